package host

import "context"

// The functions below make items of a plugin from Go functions with typed
// arguments, one for each number of parameters. The name is the one in WIT
// ("run", "[method]input-stream.read"). An error of the Go function is a trap: it
// ends the guest's call, and the instance with it. What a WIT function can answer
// is part of its result type; see [Result].

// Func0 is a function of no parameters.
func Func0[R any](name string, fn func(context.Context) (R, error)) Item {
	type frame struct {
		r R
	}
	return newFunc(name, func(ctx context.Context, _ any, f *frame) (err error) {
		f.r, err = fn(ctx)
		return err
	})
}

// Func1 is a function of one parameter.
func Func1[A, R any](name string, fn func(context.Context, A) (R, error)) Item {
	type frame struct {
		a A
		r R
	}
	return newFunc(name, func(ctx context.Context, _ any, f *frame) (err error) {
		f.r, err = fn(ctx, f.a)
		return err
	})
}

// Func2 is a function of two parameters.
func Func2[A, B, R any](name string, fn func(context.Context, A, B) (R, error)) Item {
	type frame struct {
		a A
		b B
		r R
	}
	return newFunc(name, func(ctx context.Context, _ any, f *frame) (err error) {
		f.r, err = fn(ctx, f.a, f.b)
		return err
	})
}

// Func3 is a function of three parameters.
func Func3[A, B, C, R any](name string, fn func(context.Context, A, B, C) (R, error)) Item {
	type frame struct {
		a A
		b B
		c C
		r R
	}
	return newFunc(name, func(ctx context.Context, _ any, f *frame) (err error) {
		f.r, err = fn(ctx, f.a, f.b, f.c)
		return err
	})
}

// Func4 is a function of four parameters.
func Func4[A, B, C, D, R any](name string, fn func(context.Context, A, B, C, D) (R, error)) Item {
	type frame struct {
		a A
		b B
		c C
		d D
		r R
	}
	return newFunc(name, func(ctx context.Context, _ any, f *frame) (err error) {
		f.r, err = fn(ctx, f.a, f.b, f.c, f.d)
		return err
	})
}

// Func5 is a function of five parameters.
func Func5[A, B, C, D, E, R any](name string, fn func(context.Context, A, B, C, D, E) (R, error)) Item {
	type frame struct {
		a A
		b B
		c C
		d D
		e E
		r R
	}
	return newFunc(name, func(ctx context.Context, _ any, f *frame) (err error) {
		f.r, err = fn(ctx, f.a, f.b, f.c, f.d, f.e)
		return err
	})
}

// Func6 is a function of six parameters.
func Func6[A, B, C, D, E, F, R any](name string, fn func(context.Context, A, B, C, D, E, F) (R, error)) Item {
	type frame struct {
		a A
		b B
		c C
		d D
		e E
		f F
		r R
	}
	return newFunc(name, func(ctx context.Context, _ any, f *frame) (err error) {
		f.r, err = fn(ctx, f.a, f.b, f.c, f.d, f.e, f.f)
		return err
	})
}

// Func7 is a function of seven parameters.
func Func7[A, B, C, D, E, F, G, R any](name string, fn func(context.Context, A, B, C, D, E, F, G) (R, error)) Item {
	type frame struct {
		a A
		b B
		c C
		d D
		e E
		f F
		g G
		r R
	}
	return newFunc(name, func(ctx context.Context, _ any, f *frame) (err error) {
		f.r, err = fn(ctx, f.a, f.b, f.c, f.d, f.e, f.f, f.g)
		return err
	})
}

// Func8 is a function of eight parameters.
func Func8[A, B, C, D, E, F, G, H, R any](name string, fn func(context.Context, A, B, C, D, E, F, G, H) (R, error)) Item {
	type frame struct {
		a A
		b B
		c C
		d D
		e E
		f F
		g G
		h H
		r R
	}
	return newFunc(name, func(ctx context.Context, _ any, f *frame) (err error) {
		f.r, err = fn(ctx, f.a, f.b, f.c, f.d, f.e, f.f, f.g, f.h)
		return err
	})
}
