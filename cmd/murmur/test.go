package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/murmur-capsule/murmur/capsule/capsuletest"
	"github.com/murmur-capsule/murmur/runtime"
)

func (a *app) testCommand() *cobra.Command {
	var junit string
	c := &cobra.Command{
		Use:   "test DIR...",
		Short: "Run capsules against their expectation files",
		Long: "Run the capsule of each folder, in a session of its own, against the folder's " + capsuletest.ExpectFile +
			":\nwhich tasks it gets, and what must come of each.",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("see murmur test --help", "an argument is missing: murmur test wants folders of capsules")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return interruptible(c.Context(), func(ctx context.Context) error {
				suites, err := a.testAll(ctx, args)
				if junit != "" {
					err = errors.Join(err, writeJUnit(junit, suites))
				}
				if err == nil && failures(suites) > 0 {
					return &failure{code: exitFailed}
				}
				return err
			})
		},
	}
	c.Flags().StringVar(&junit, "junit", "", "also write the outcome to this file, in JUnit's XML")
	return c
}

// A suite is one capsule under test.
type suite struct {
	name    string
	reports []capsuletest.Report
	err     error // why it could not be run
}

func (s suite) failures() (n int) {
	for _, r := range s.reports {
		if len(r.Wrong) > 0 {
			n++
		}
	}
	return n
}

func failures(suites []suite) (n int) {
	for _, s := range suites {
		n += s.failures()
	}
	return n
}

// testAll tests the capsules one after the other. One that cannot be run does
// not keep the others from it.
func (a *app) testAll(ctx context.Context, dirs []string) (suites []suite, err error) {
	rt, done, err := a.scratchRuntime()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	for _, dir := range dirs {
		if ctx.Err() != nil {
			break
		}
		s := testOne(ctx, rt, dir)
		a.showSuite(s)
		if s.err != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", dir, s.err))
		}
		suites = append(suites, s)
	}
	return suites, err
}

func testOne(ctx context.Context, rt *runtime.Runtime, dir string) suite {
	s := suite{name: suiteName(dir)}
	e, err := capsuletest.LoadExpectation(dir)
	if err != nil {
		s.err = err
		return s
	}
	s.reports, s.err = capsuletest.Check(ctx, rt, dir, e)
	return s
}

// suiteName is the folder as it was given; of one that has no name in it, such as
// ".", the name that it has.
func suiteName(dir string) string {
	name := filepath.Clean(dir)
	if base := filepath.Base(name); base == "." || base == ".." {
		if abs, err := filepath.Abs(name); err == nil {
			return filepath.Base(abs)
		}
	}
	return name
}

func (a *app) showSuite(s suite) {
	for _, r := range s.reports {
		verdict := a.styleOut.good("ok  ")
		if len(r.Wrong) > 0 {
			verdict = a.styleOut.bad("FAIL")
		}
		fmt.Fprintf(a.stdout, "%s %s: %s (%v)\n", verdict, s.name, printable(r.Name), r.Duration.Round(time.Millisecond))
		for _, wrong := range r.Wrong {
			fmt.Fprintf(a.stdout, "     %s\n", oneLine(wrong))
		}
	}
}
