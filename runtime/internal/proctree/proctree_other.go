//go:build !linux

package proctree

import "context"

// Capture returns the identity of the process that has pid now.
func Capture(pid int) (Identity, error) { return Identity{}, ErrUnsupported }

// Verify tells whether the process that id names lives.
func Verify(id Identity) Verdict { return Unverifiable }

// A Tree is all processes of one command.
type Tree struct {
	Leader Identity
	Mark   string
}

// Members returns what of the tree is alive.
func (t Tree) Members() (members, unproven []Proc, err error) { return nil, nil, ErrUnsupported }

// An Outcome is what a teardown did.
type Outcome struct {
	Signalled int
	Survivors []Proc
}

// Teardown ends the tree.
func (t Tree) Teardown(ctx context.Context) (Outcome, error) { return Outcome{}, ErrUnsupported }
