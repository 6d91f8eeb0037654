package host

import "context"

// The functions below make items of a plugin from Go functions that return
// nothing but an error; they are otherwise like [Func0] and the others.

// Proc0 is a function of no parameters and no result.
func Proc0(name string, fn func(context.Context) error) Item {
	return Func0(name, func(ctx context.Context) (Unit, error) { return Unit{}, fn(ctx) })
}

// Proc1 is a function of one parameter and no result.
func Proc1[A any](name string, fn func(context.Context, A) error) Item {
	return Func1(name, func(ctx context.Context, a A) (Unit, error) { return Unit{}, fn(ctx, a) })
}

// Proc2 is a function of two parameters and no result.
func Proc2[A, B any](name string, fn func(context.Context, A, B) error) Item {
	return Func2(name, func(ctx context.Context, a A, b B) (Unit, error) { return Unit{}, fn(ctx, a, b) })
}

// Proc3 is a function of three parameters and no result.
func Proc3[A, B, C any](name string, fn func(context.Context, A, B, C) error) Item {
	return Func3(name, func(ctx context.Context, a A, b B, c C) (Unit, error) { return Unit{}, fn(ctx, a, b, c) })
}

// Proc4 is a function of four parameters and no result.
func Proc4[A, B, C, D any](name string, fn func(context.Context, A, B, C, D) error) Item {
	return Func4(name, func(ctx context.Context, a A, b B, c C, d D) (Unit, error) { return Unit{}, fn(ctx, a, b, c, d) })
}

// Proc5 is a function of five parameters and no result.
func Proc5[A, B, C, D, E any](name string, fn func(context.Context, A, B, C, D, E) error) Item {
	return Func5(name, func(ctx context.Context, a A, b B, c C, d D, e E) (Unit, error) {
		return Unit{}, fn(ctx, a, b, c, d, e)
	})
}

// Proc6 is a function of six parameters and no result.
func Proc6[A, B, C, D, E, F any](name string, fn func(context.Context, A, B, C, D, E, F) error) Item {
	return Func6(name, func(ctx context.Context, a A, b B, c C, d D, e E, f F) (Unit, error) {
		return Unit{}, fn(ctx, a, b, c, d, e, f)
	})
}

// Proc7 is a function of seven parameters and no result.
func Proc7[A, B, C, D, E, F, G any](name string, fn func(context.Context, A, B, C, D, E, F, G) error) Item {
	return Func7(name, func(ctx context.Context, a A, b B, c C, d D, e E, f F, g G) (Unit, error) {
		return Unit{}, fn(ctx, a, b, c, d, e, f, g)
	})
}

// Proc8 is a function of eight parameters and no result.
func Proc8[A, B, C, D, E, F, G, H any](name string, fn func(context.Context, A, B, C, D, E, F, G, H) error) Item {
	return Func8(name, func(ctx context.Context, a A, b B, c C, d D, e E, f F, g G, h H) (Unit, error) {
		return Unit{}, fn(ctx, a, b, c, d, e, f, g, h)
	})
}
