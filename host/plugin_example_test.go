package host_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/murmur-capsule/murmur/host"
)

// A greeting is what the plugin below answers: record greeting.
type greeting struct {
	Text   string
	Number uint32 `wit:"visitor-number"`
}

// The interface, as WIT:
//
//	package acme:door@1.0.0;
//	interface bell {
//	  record greeting { text: string, visitor-number: u32 }
//	  ring: func(name: option<string>) -> result<greeting, string>;
//	}
func ExampleNewPlugin() {
	visitors := uint32(0)
	ring := func(_ context.Context, name *string) (host.Result[greeting, string], error) {
		if name == nil {
			return host.Fail[greeting]("who is it?"), nil
		}
		visitors++
		return host.Ok[greeting, string](greeting{Text: "hello " + *name, Number: visitors}), nil
	}
	p := host.NewPlugin("acme:door/bell@1.0.0", host.Func1("ring", ring))
	fmt.Println(p.Err())
	fmt.Println(strings.Join(p.Functions(), "\n"))
	// Output:
	// <nil>
	// ring: func(p0: option<string>) -> result<record {text: string, visitor-number: u32}, string>
}

// A counter is what a guest has a handle of.
type counter struct{ n uint64 }

// The interface, as WIT:
//
//	package acme:count@1.0.0;
//	interface counters {
//	  resource counter {
//	    constructor(start: u64);
//	    next: func() -> u64;
//	    sum: static func(a: counter, b: borrow<counter>) -> u64;
//	  }
//	}
func ExampleNewResource() {
	counters := host.NewResource("counter", func(c *counter) { fmt.Println("dropped at", c.n) })
	p := host.NewPlugin("acme:count/counters@1.0.0", counters,
		host.Func1("[constructor]counter", func(_ context.Context, start uint64) (host.Own[*counter], error) {
			return host.Own[*counter]{Value: &counter{start}}, nil
		}),
		host.Func1("[method]counter.next", func(_ context.Context, self host.Borrow[*counter]) (uint64, error) {
			self.Value.n++
			return self.Value.n, nil
		}),
		host.Func2("[static]counter.sum", func(_ context.Context, a host.Own[*counter], b host.Borrow[*counter]) (uint64, error) {
			return a.Value.n + b.Value.n, nil
		}),
	)
	fmt.Println(p.Err())
	fmt.Println(strings.Join(p.Functions(), "\n"))
	// Output:
	// <nil>
	// [constructor]counter: func(p0: u64) -> own<counter>
	// [method]counter.next: func(p0: borrow<counter>) -> u64
	// [static]counter.sum: func(p0: own<counter>, p1: borrow<counter>) -> u64
}

// An environment is the state of one instance.
type environment struct{ args []string }

func (e *environment) arguments(context.Context) ([]string, error) { return e.args, nil }

func ExamplePlugin_With() {
	p := host.NewPlugin("wasi:cli/environment@0.2.0",
		host.Method0("get-arguments", (*environment).arguments))
	mine, yours := p.With(&environment{[]string{"a"}}), p.With(&environment{[]string{"b"}})
	fmt.Println(mine.Name() == yours.Name(), mine.Functions())
	// Output: true [get-arguments: func() -> list<string>]
}
