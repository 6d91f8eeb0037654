// Package unixsock reaches the Unix sockets in a session's directory: by a short
// path, since an address has room for 108 bytes, and between processes of one
// user alone.
package unixsock

import "errors"

// ErrNobody says that nobody listens.
var ErrNobody = errors.New("nobody listens there")
