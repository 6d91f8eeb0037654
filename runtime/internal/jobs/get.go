package jobs

import (
	"context"
	"fmt"
)

// Get is the work with that id. ErrGone says that there is none.
func (s *Store) Get(work string) (Handle, error) {
	if !validWork(work) {
		return Handle{}, fmt.Errorf("cannot read %q: %w", work, ErrGone)
	}
	r, err := s.read(work)
	if err != nil {
		return Handle{}, fmt.Errorf("cannot read %s: %w", work, err)
	}
	return Handle{store: s, record: r}, nil
}

// Reconcile brings the record up to what is true, as [Store.Reconcile] does for
// all, and returns it as it is then.
func (h Handle) Reconcile(ctx context.Context, p Pass) (Handle, error) {
	if h.record.State == Running {
		var report Report
		if err := h.store.reconcile(ctx, h, p, &report); err != nil {
			return h, err
		}
	}
	return h.Refresh()
}
