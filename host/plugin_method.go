package host

import (
	"context"
	"fmt"
)

// The functions below make items of a plugin from methods of its state, which
// each instance has its own of: the plugin is made once, and [Plugin.With] gives
// it the state. A method expression fits:
//
//	env := host.NewPlugin("wasi:cli/environment@0.2.0", host.Method0("get-arguments", (*environment).arguments))
//	… env.With(&environment{…})
//
// They are otherwise like [Func0] and the others. A method without a result
// returns a [Unit].

// stateOf is the state of a call, as the type that its method is of.
func stateOf[S any](state any) (S, error) {
	s, ok := state.(S)
	if !ok {
		return s, fmt.Errorf("the plugin has a %T as its state (see Plugin.With), not a %T", state, s)
	}
	return s, nil
}

// Method0 is a method of no parameters.
func Method0[S, R any](name string, fn func(S, context.Context) (R, error)) Item {
	type frame struct {
		r R
	}
	return newFunc(name, func(ctx context.Context, state any, f *frame) error {
		s, err := stateOf[S](state)
		if err != nil {
			return err
		}
		f.r, err = fn(s, ctx)
		return err
	})
}

// Method1 is a method of one parameter.
func Method1[S, A, R any](name string, fn func(S, context.Context, A) (R, error)) Item {
	type frame struct {
		a A
		r R
	}
	return newFunc(name, func(ctx context.Context, state any, f *frame) error {
		s, err := stateOf[S](state)
		if err != nil {
			return err
		}
		f.r, err = fn(s, ctx, f.a)
		return err
	})
}

// Method2 is a method of two parameters.
func Method2[S, A, B, R any](name string, fn func(S, context.Context, A, B) (R, error)) Item {
	type frame struct {
		a A
		b B
		r R
	}
	return newFunc(name, func(ctx context.Context, state any, f *frame) error {
		s, err := stateOf[S](state)
		if err != nil {
			return err
		}
		f.r, err = fn(s, ctx, f.a, f.b)
		return err
	})
}

// Method3 is a method of three parameters.
func Method3[S, A, B, C, R any](name string, fn func(S, context.Context, A, B, C) (R, error)) Item {
	type frame struct {
		a A
		b B
		c C
		r R
	}
	return newFunc(name, func(ctx context.Context, state any, f *frame) error {
		s, err := stateOf[S](state)
		if err != nil {
			return err
		}
		f.r, err = fn(s, ctx, f.a, f.b, f.c)
		return err
	})
}

// Method4 is a method of four parameters.
func Method4[S, A, B, C, D, R any](name string, fn func(S, context.Context, A, B, C, D) (R, error)) Item {
	type frame struct {
		a A
		b B
		c C
		d D
		r R
	}
	return newFunc(name, func(ctx context.Context, state any, f *frame) error {
		s, err := stateOf[S](state)
		if err != nil {
			return err
		}
		f.r, err = fn(s, ctx, f.a, f.b, f.c, f.d)
		return err
	})
}

// Method5 is a method of five parameters.
func Method5[S, A, B, C, D, E, R any](name string, fn func(S, context.Context, A, B, C, D, E) (R, error)) Item {
	type frame struct {
		a A
		b B
		c C
		d D
		e E
		r R
	}
	return newFunc(name, func(ctx context.Context, state any, f *frame) error {
		s, err := stateOf[S](state)
		if err != nil {
			return err
		}
		f.r, err = fn(s, ctx, f.a, f.b, f.c, f.d, f.e)
		return err
	})
}

// Method6 is a method of six parameters.
func Method6[S, A, B, C, D, E, F, R any](name string, fn func(S, context.Context, A, B, C, D, E, F) (R, error)) Item {
	type frame struct {
		a A
		b B
		c C
		d D
		e E
		f F
		r R
	}
	return newFunc(name, func(ctx context.Context, state any, f *frame) error {
		s, err := stateOf[S](state)
		if err != nil {
			return err
		}
		f.r, err = fn(s, ctx, f.a, f.b, f.c, f.d, f.e, f.f)
		return err
	})
}

// Method7 is a method of seven parameters.
func Method7[S, A, B, C, D, E, F, G, R any](name string, fn func(S, context.Context, A, B, C, D, E, F, G) (R, error)) Item {
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
	return newFunc(name, func(ctx context.Context, state any, f *frame) error {
		s, err := stateOf[S](state)
		if err != nil {
			return err
		}
		f.r, err = fn(s, ctx, f.a, f.b, f.c, f.d, f.e, f.f, f.g)
		return err
	})
}

// Method8 is a method of eight parameters.
func Method8[S, A, B, C, D, E, F, G, H, R any](name string, fn func(S, context.Context, A, B, C, D, E, F, G, H) (R, error)) Item {
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
	return newFunc(name, func(ctx context.Context, state any, f *frame) error {
		s, err := stateOf[S](state)
		if err != nil {
			return err
		}
		f.r, err = fn(s, ctx, f.a, f.b, f.c, f.d, f.e, f.f, f.g, f.h)
		return err
	})
}
