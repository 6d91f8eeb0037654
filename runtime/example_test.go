package runtime_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/runtime"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// A program that runs capsules calls Hook first. Then it makes a runtime, loads
// a capsule, starts a session of it and gives it tasks.
func Example() {
	runtime.Hook()
	ctx := context.Background()
	rt, err := runtime.New(runtime.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close()

	manifest, err := capsule.Load("builder")
	if err != nil {
		log.Fatal(err)
	}
	builder, err := rt.Load(ctx, manifest)
	if err != nil {
		log.Fatal(err)
	}
	defer builder.Close(ctx)
	session, err := rt.Start(ctx, builder, runtime.SessionOptions{
		OnResult: func(r runtime.TaskResult) { fmt.Println(r.Source, r.Origin, r.Trust, r.Status, r.Result) },
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := session.SubmitWhenAdmitted(ctx, runtime.Task{Origin: provenance.User, Message: "make test"}); err != nil {
		log.Fatal(err)
	}
	// The commands that went to the background have reported back by then.
	if err := session.WaitIdle(ctx); err != nil {
		log.Fatal(err)
	}
	session.End()
	if err := session.Wait(ctx); err != nil {
		log.Fatal(err)
	}
}

// A command that runs in the background is a handle, which reads and stops that
// command alone.
func ExampleSession_Outstanding() {
	stopOld := func(ctx context.Context, session *runtime.Session) {
		for _, work := range session.Outstanding() {
			if work.Running() < time.Hour {
				continue
			}
			// The guest was promised a task and gets one, with the reason killed.
			if err := work.Stop(ctx); err != nil {
				log.Printf("%s: %v", work.Command(), err)
			}
		}
	}
	_ = stopOld
}

// Cancelling a task closes its guest. A command that the guest was waiting for
// goes on in the background.
func ExampleTicket_Cancel() {
	within := func(ctx context.Context, session *runtime.Session, limit time.Duration) (runtime.TaskResult, error) {
		ticket, err := session.Submit(ctx, runtime.Task{Origin: provenance.Event, Message: "a build failed"})
		if err != nil {
			return runtime.TaskResult{}, err
		}
		defer time.AfterFunc(limit, ticket.Cancel).Stop()
		return ticket.Wait(ctx)
	}
	_ = within
}

// A plugin of one's own serves an interface that the guest imports.
func ExampleSessionOptions() {
	options := runtime.SessionOptions{
		Workdir: "/srv/builds",
		Plugins: []*host.Plugin{
			host.NewPlugin("acme:builds/clock@1.0.0",
				host.Func0("now", func(context.Context) (string, error) { return time.Now().Format(time.RFC3339), nil })),
		},
		OnEvent: func(e runtime.Event) {
			if e.WorkID != "" {
				fmt.Println(e.Type, e.WorkID, e.Command)
			}
		},
	}
	_ = options
}
