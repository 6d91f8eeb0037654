package supervisor

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A frame on the socket is a length (four bytes, big endian) and that many
// bytes of JSON.
const headerSize = 4

// maxFrame bounds a frame. The largest is a launch: a request has sixteen
// megabytes at most, and what is in it grows to twice as much where JSON has to
// escape what a guest need not.
const maxFrame = 40 << 20

// firstRead is how much of a frame is allocated on the word of its length
// alone; the rest follows as it arrives.
const firstRead = 64 << 10

var errFrameSize = errors.New("frame too large")

// readFrame reads one frame into m. io.EOF says that the stream ended between
// two frames.
func readFrame(r io.Reader, m *message) error {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return err
	}
	n := int64(binary.BigEndian.Uint32(header[:]))
	if n > maxFrame {
		return fmt.Errorf("%w: %d bytes", errFrameSize, n)
	}
	body, err := readBody(r, n)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, m); err != nil {
		return fmt.Errorf("bad frame: %w", err)
	}
	return nil
}

func readBody(r io.Reader, n int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(min(n, firstRead)))
	if _, err := io.CopyN(&b, r, n); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return b.Bytes(), nil
}

// appendFrame is the frame of m.
func appendFrame(m message) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, headerSize, 512))
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return nil, err
	}
	frame := b.Bytes()
	n := len(frame) - headerSize
	if n > maxFrame {
		return nil, fmt.Errorf("%w: %d bytes", errFrameSize, n)
	}
	binary.BigEndian.PutUint32(frame, uint32(n))
	return frame, nil
}
