package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/murmur-capsule/murmur/runtime"
)

// notEnforced stands where nothing enforces a dimension or a limit.
const notEnforced = "-"

// receiptOf is the receipt that an event brings; nil if it brings none.
func receiptOf(e runtime.Event) *runtime.Receipt {
	var r runtime.Receipt
	if len(e.Containment) == 0 || json.Unmarshal(e.Containment, &r) != nil {
		return nil
	}
	return &r
}

// enforced says by what a dimension is enforced, or why by nothing.
func enforced(r *runtime.Receipt, d runtime.Dimension) (by, why string) {
	if r == nil {
		return notEnforced, ""
	}
	if r.Holds(d) {
		return strings.Join(r.Enforced[d], ", "), ""
	}
	return notEnforced, r.NotEnforced[d]
}

// A receiptWriter shows a receipt to a person, a line for each thing it says.
type receiptWriter struct {
	w     io.Writer
	style style
}

// show prints what is planned, or, once a command has run, what was seen of it:
// the rest is as it was.
func (p receiptWriter) show(r *runtime.Receipt) {
	if !r.Pending {
		p.seen(r)
		return
	}
	p.line("class", string(r.Class)+askedText(r), "")
	for _, d := range runtime.Dimensions() {
		by, why := enforced(r, d)
		p.line(string(d), by, why)
	}
	for _, l := range r.Limits {
		by := l.By
		if by == "" {
			by = notEnforced
		}
		p.line(l.Name, fmt.Sprintf("%d, %s", l.Value, by), l.Why)
	}
	for _, n := range r.Notes {
		p.line("note", n, "")
	}
}

func (p receiptWriter) seen(r *runtime.Receipt) {
	text := "a command runs as planned, class " + string(r.Class)
	if v := r.Verified; v != nil {
		text += fmt.Sprintf(": user %d, capabilities %s, no_new_privs %t, seccomp %t", v.UID, v.Capabilities, v.NoNewPrivs, v.Seccomp)
	}
	p.line("seen", text, "")
}

func (p receiptWriter) line(what, text, why string) {
	if why != "" {
		text = p.style.odd(text) + ": " + oneLine(why)
	}
	fmt.Fprintf(p.w, "%12s%-19s %s\n", "", what, text)
}

// askedText says how a class came about that is planned.
func askedText(r *runtime.Receipt) string {
	var parts []string
	if r.Asked == "" {
		parts = append(parts, "none was asked for: the best up to scoped")
	}
	for _, d := range r.Require {
		parts = append(parts, string(d)+" required")
	}
	parts = append(parts, "as planned: no command has run yet")
	return " (" + strings.Join(parts, "; ") + ")"
}
