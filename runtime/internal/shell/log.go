package shell

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/murmur-capsule/murmur/runtime/internal/regular"
)

// logDir is where full logs go, in the workdir.
const logDir = "logs"

// maxCopyDepth is how many directories a copy of a log may lie in. A tree that is
// much deeper is refused by what measures the workdir, with all later commands.
const maxCopyDepth = 64

// WorkLog returns the path, in the workdir, of the log with that name.
func WorkLog(name string) string { return path.Join(logDir, name+".log") }

// checkLogs refuses before the start what could not be written at the end: a log
// directory that is a link or may not be written, a copy over something. What
// changes meanwhile is met when the log is written.
func (w *Workdir) checkLogs(copy *string) error {
	dir := w.path
	info, err := w.root.Lstat(logDir)
	switch {
	case errors.Is(err, fs.ErrNotExist): // it is made at the end
	case err != nil:
		return fmt.Errorf("cannot use the log directory %s: %w", logDir, cause(err))
	case !info.IsDir():
		return fmt.Errorf("cannot use the log directory %s: it is %s", logDir, describeMode(info))
	default:
		dir = filepath.Join(dir, logDir)
	}
	if err := writable(dir); err != nil {
		return fmt.Errorf("cannot write logs in %s: %w", Quote(dir), err)
	}
	if copy == nil {
		return nil
	}
	return w.checkCopy(*copy)
}

// checkCopy refuses a path for the copy of a log where it could not be written,
// or would be in the way of the logs to come.
func (w *Workdir) checkCopy(path string) error {
	if err := checkPath("log-path", path); err != nil {
		return err
	}
	if filepath.Clean(path) == logDir {
		return fieldError("log-path", "%s is the directory of the logs", Quote(path))
	}
	if strings.Count(filepath.Clean(path), string(filepath.Separator)) > maxCopyDepth {
		return fieldError("log-path", "%s is nested deeper than %d directories", Quote(cut(path, 64)), maxCopyDepth)
	}
	if _, err := w.root.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fieldError("log-path", "%s exists, or cannot be looked at", Quote(path))
	}
	dir, err := w.directory(filepath.Dir(path), false)
	if err == nil {
		return dir.Close()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fieldError("log-path", "cannot enter the directory of %s: %v", Quote(path), err)
	}
	return nil
}

// A Log is what a full log tells.
type Log struct {
	// Command is the command's full text.
	Command string
	Exit    Exit
	Output  Output
}

// WriteLog makes the file name in the workdir and returns its size in bytes. It
// never writes over anything, and follows no link to get there. A log that
// cannot be completed is removed again.
func (w *Workdir) WriteLog(name string, l Log) (int64, error) {
	if err := checkPath("log", name); err != nil {
		return 0, err
	}
	dir, err := w.directory(filepath.Dir(name), true)
	if err != nil {
		return 0, fmt.Errorf("cannot write the log %s: %w", Quote(name), err)
	}
	defer dir.Close()
	base := filepath.Base(name)
	f, err := dir.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return 0, fmt.Errorf("cannot write the log %s: %w", Quote(name), cause(err))
	}
	size, err := l.write(f)
	if err = errors.Join(err, f.Close()); err != nil {
		dir.Remove(base)
		return 0, fmt.Errorf("cannot write the log %s: %w", Quote(name), cause(err))
	}
	return size, nil
}

func (l Log) write(f *os.File) (int64, error) {
	if _, err := io.WriteString(f, header(l.Command, l.Exit)); err != nil {
		return 0, err
	}
	if err := writeStream(f, "Stdout:", l.Output.StdoutPath); err != nil {
		return 0, err
	}
	if err := writeStream(f, "Stderr:", l.Output.StderrPath); err != nil {
		return 0, err
	}
	if l.Output.Truncated {
		fmt.Fprintf(f, "Output over the limit was dropped: %d bytes of stdout and %d bytes of stderr were written.\n",
			l.Output.StdoutBytes, l.Output.StderrBytes)
	}
	return f.Seek(0, io.SeekCurrent)
}

// writeStream copies a captured stream behind its heading, on lines of its own.
func writeStream(f *os.File, heading, path string) error {
	if _, err := io.WriteString(f, heading+"\n"); err != nil {
		return err
	}
	src, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the stream has brought nothing
	}
	if err != nil {
		return err
	}
	defer src.Close()
	n, err := f.ReadFrom(src)
	if err != nil || n == 0 {
		return err
	}
	var last [1]byte
	if _, err := src.ReadAt(last[:], n-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = io.WriteString(f, "\n")
	return err
}

// header shows a command and how it ended, for logs and results alike.
func header(command string, e Exit) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("Command: %s", Quote(command))
	line("Exit code: %d", e.Code)
	if e.Signal != "" {
		line("signal: %s", e.Signal)
	}
	if e.Reason != "" {
		line("reason: %s", e.Reason)
	}
	if e.Limit != "" {
		line("%s", ResourceLimitLine(e.Limit))
	}
	if len(e.LeftRunning) > 0 {
		line("left_running: %s", SurvivorList(e.LeftRunning))
	}
	if len(e.Survivors) > 0 {
		line("survivors: %s", SurvivorList(e.Survivors))
	}
	if e.WaitErr != "" {
		line("wait_error: %s", Quote(e.WaitErr))
	}
	return b.String()
}
