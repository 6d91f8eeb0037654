package wasi

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/host"
)

// workdir is an instance with a directory, and the descriptor of the directory.
// Beside the directory lies a file that the guest must not reach.
func workdir(t *testing.T, readOnly bool) (d *descriptor, dir string) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, "work")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(top, "secret"), []byte("secret"), 0o644))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	i, err := newInstance(Config{Workdir: root, ReadOnly: readOnly})
	require.NoError(t, err)
	found, err := i.preopens(context.Background())
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Equal(t, "/workdir", found[0].Path)
	t.Cleanup(func() {
		found[0].Descriptor.Value.drop()
		assert.Zero(t, i.files.open, "all is closed at the end")
		require.NoError(t, root.Close())
	})
	return found[0].Descriptor.Value, dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

func contents(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(b)
}

// open opens a path, and closes it when the test ends.
func (d *descriptor) openFor(t *testing.T, p string, how openFlags, flags descriptorFlags) *descriptor {
	t.Helper()
	own, err := d.openAt(flagSymlinkFollow, p, how, flags)
	require.NoError(t, err, p)
	t.Cleanup(own.Value.drop)
	return own.Value
}

const readWrite = flagRead | flagWrite

func TestFiles(t *testing.T) {
	d, dir := workdir(t, false)
	f := d.openFor(t, "f", openCreate, readWrite)
	n, err := f.write([]byte("hello"), 0)
	require.NoError(t, err)
	assert.EqualValues(t, 5, n)
	_, err = f.write([]byte("!"), 7)
	require.NoError(t, err)
	assert.Equal(t, "hello\x00\x00!", contents(t, dir, "f"))

	got, err := f.read(3, 1)
	require.NoError(t, err)
	assert.Equal(t, chunkRead{[]byte("ell"), false}, got)
	got, err = f.read(100, 6)
	require.NoError(t, err)
	assert.Equal(t, chunkRead{[]byte("\x00!"), true}, got)
	got, err = f.read(100, 100)
	require.NoError(t, err)
	assert.Equal(t, chunkRead{[]byte{}, true}, got)

	require.NoError(t, f.setSize(2))
	assert.Equal(t, "he", contents(t, dir, "f"))
	for _, sync := range []func() error{f.sync, d.sync} {
		assert.NoError(t, sync())
	}
	assert.NoError(t, f.advise(0, 10, 0))
	flags, err := f.getFlags()
	require.NoError(t, err)
	assert.Equal(t, readWrite, flags)
	typ, err := f.getType()
	require.NoError(t, err)
	assert.Equal(t, typeRegularFile, typ)

	d.openFor(t, "f", openTruncate, flagWrite)
	assert.Empty(t, contents(t, dir, "f"))
}

func TestNumbersOutOfRange(t *testing.T) {
	d, _ := workdir(t, false)
	f := d.openFor(t, "f", openCreate, readWrite)
	const huge = 1 << 63
	_, err := f.read(1, huge)
	assert.Equal(t, codeInvalid, codeOf(err))
	_, err = f.write([]byte("x"), huge)
	assert.Equal(t, codeFileTooLarge, codeOf(err))
	_, err = f.write([]byte("x"), huge-1)
	assert.Equal(t, codeFileTooLarge, codeOf(err))
	assert.Equal(t, codeFileTooLarge, codeOf(f.setSize(huge)))
	assert.Equal(t, codeInvalid, codeOf(f.advise(huge, 0, 0)))
	got, err := f.read(1<<62, 0)
	require.NoError(t, err)
	assert.LessOrEqual(t, cap(got.Data), maxRead, "what is read is bounded")
}

func TestFileStreams(t *testing.T) {
	d, dir := workdir(t, false)
	ctx := context.Background()
	f := d.openFor(t, "f", openCreate, readWrite)
	w, err := f.writeStream(2)
	require.NoError(t, err)
	a, err := f.appendStream()
	require.NoError(t, err)
	r, err := f.readStream(1)
	require.NoError(t, err)
	for _, part := range []struct {
		to   *outputStream
		text string
	}{{w.Value, "ab"}, {a.Value, "END"}, {w.Value, "cd"}, {a.Value, "."}} {
		failure, err := part.to.write(ctx, []byte(part.text), maxWrite)
		require.NoError(t, err)
		require.Nil(t, failure)
	}
	assert.Equal(t, "\x00\x00abcdD.", contents(t, dir, "f"))

	p, failure := r.Value.read(3)
	require.Nil(t, failure)
	assert.Equal(t, "\x00ab", string(p))
	assert.True(t, r.Value.src.pollable(d.i).ready())
	p, failure, err = r.Value.blockingRead(ctx, 100)
	require.NoError(t, err)
	require.Nil(t, failure)
	assert.Equal(t, "cdD.", string(p))
	_, failure = r.Value.read(1)
	assert.Equal(t, &streamError{Closed: true}, failure)

	open := d.fs.open
	w.Value.drop()
	a.Value.drop()
	assert.Equal(t, open, d.fs.open, "the descriptor keeps the file open")
	r.Value.drop()
}

// TestStreamsOutliveTheirDescriptor, as in POSIX a file that is open twice.
func TestStreamsOutliveTheirDescriptor(t *testing.T) {
	d, dir := workdir(t, false)
	put(t, dir, "f", "text")
	own, err := d.openAt(0, "f", 0, flagRead)
	require.NoError(t, err)
	s, err := own.Value.readStream(0)
	require.NoError(t, err)
	own.Value.drop()
	p, failure := s.Value.read(10)
	require.Nil(t, failure)
	assert.Equal(t, "text", string(p))
	s.Value.drop()
}

// TestAppendingBesideOthers: what a command writes to the same file meanwhile is
// not overwritten.
func TestAppendingBesideOthers(t *testing.T) {
	d, dir := workdir(t, false)
	f := d.openFor(t, "log", openCreate, flagWrite)
	s, err := f.appendStream()
	require.NoError(t, err)
	defer s.Value.drop()
	other, err := os.OpenFile(filepath.Join(dir, "log"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	defer other.Close()
	for range 2 {
		_, err := s.Value.write(context.Background(), []byte("guest\n"), maxWrite)
		require.NoError(t, err)
		_, err = other.WriteString("command\n")
		require.NoError(t, err)
	}
	assert.Equal(t, strings.Repeat("guest\ncommand\n", 2), contents(t, dir, "log"))
	require.NoError(t, appendAtEnd(f.file.h, []byte("end")))
	assert.True(t, strings.HasSuffix(contents(t, dir, "log"), "command\nend"))
}

func TestWhatADescriptorCannotDo(t *testing.T) {
	d, dir := workdir(t, false)
	put(t, dir, "f", "text")
	reader := d.openFor(t, "f", 0, flagRead)
	writer := d.openFor(t, "f", 0, flagWrite)
	neither := d.openFor(t, "f", 0, 0)
	second := func(_ any, err error) error { return err }
	for name, tc := range map[string]struct {
		err  error
		want errorCode
	}{
		"read, write only":     {second(writer.read(1, 0)), codeBadDescriptor},
		"read stream":          {second(writer.readStream(0)), codeBadDescriptor},
		"read, opened for it":  {second(neither.read(1, 0)), codeBadDescriptor},
		"write, read only":     {second(reader.write(nil, 0)), codeBadDescriptor},
		"write stream":         {second(reader.writeStream(0)), codeBadDescriptor},
		"append stream":        {second(reader.appendStream()), codeBadDescriptor},
		"set size":             {reader.setSize(0), codeBadDescriptor},
		"read a directory":     {second(d.read(1, 0)), codeBadDescriptor},
		"write a directory":    {second(d.write(nil, 0)), codeBadDescriptor},
		"resize a directory":   {d.setSize(0), codeBadDescriptor},
		"advise on one":        {d.advise(0, 0, 0), codeBadDescriptor},
		"list a file":          {second(reader.readDirectory()), codeNotDirectory},
		"open below a file":    {second(reader.openAt(0, "x", 0, flagRead)), codeNotDirectory},
		"make one below":       {reader.createDirectoryAt("x"), codeNotDirectory},
		"rename to below":      {d.renameAt("f", reader, "x"), codeNotDirectory},
		"stat below":           {second(reader.statAt(0, "x")), codeNotDirectory},
		"sync without writing": {reader.sync(), 255},
	} {
		if tc.want == 255 {
			assert.NoError(t, tc.err, name)
			continue
		}
		assert.Equal(t, tc.want, codeOf(tc.err), name)
	}
}

func TestOpening(t *testing.T) {
	d, dir := workdir(t, false)
	put(t, dir, "f", "text")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
	require.NoError(t, os.Symlink("f", filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	for name, tc := range map[string]struct {
		path   string
		follow pathFlags
		how    openFlags
		flags  descriptorFlags
		want   string
	}{
		"file":                 {"f", 0, 0, flagRead, ""},
		"directory":            {"d", 0, 0, flagRead, ""},
		"directory, asked for": {"d", 0, openDirectory, flagRead | flagMutateDirectory, ""},
		"the directory itself": {".", 0, openDirectory, flagRead, ""},
		"with a slash":         {"d/", 0, openDirectory, flagRead, ""},
		"dots inside":          {"d/../f", 0, 0, flagRead, ""},
		"synchronously":        {"f", 0, 0, flagWrite | flagDataIntegritySync, ""},
		"exclusive, new":       {"new", 0, openCreate | openExclusive, flagWrite, ""},
		"followed":             {"link", flagSymlinkFollow, 0, flagRead, ""},

		"not followed":          {"link", 0, 0, flagRead, "loop"},
		"not followed, created": {"link", 0, openCreate, flagRead, "loop"},
		"exclusive, link":       {"dangling", 0, openCreate | openExclusive, flagWrite, "exist"},
		"exclusive, there":      {"f", 0, openCreate | openExclusive, flagWrite, "exist"},
		"dangling":              {"dangling", flagSymlinkFollow, 0, flagRead, "no-entry"},
		"missing":               {"missing", 0, 0, flagRead, "no-entry"},
		"missing directory":     {"missing/f", 0, openCreate, flagWrite, "no-entry"},
		"below a file":          {"f/x", 0, 0, flagRead, "not-directory"},
		"file as directory":     {"f", 0, openDirectory, flagRead, "not-directory"},
		"file with a slash":     {"f/", 0, 0, flagRead, "not-directory"},
		"write a directory":     {"d", 0, 0, readWrite, "is-directory"},
		"truncate a directory":  {"d", 0, openTruncate, flagRead, "is-directory"},
		"create a directory":    {"x", 0, openDirectory | openCreate, flagRead, "invalid"},
		"empty":                 {"", 0, 0, flagRead, "no-entry"},
		"NUL":                   {"f\x00g", 0, 0, flagRead, "invalid"},
		"absolute":              {"/workdir/f", 0, 0, flagRead, "not-permitted"},
		"too long a name":       {strings.Repeat("x", 300), 0, 0, flagRead, "name-too-long"},
		"too long":              {strings.Repeat("x/", maxPath), 0, 0, flagRead, "name-too-long"},
	} {
		t.Run(name, func(t *testing.T) {
			before := d.fs.open
			own, err := d.openAt(tc.follow, tc.path, tc.how, tc.flags)
			if tc.want != "" {
				require.Error(t, err)
				assert.Equal(t, tc.want, codeOf(err).String(), "%v", err)
			} else {
				require.NoError(t, err)
				own.Value.drop()
			}
			assert.Equal(t, before, d.fs.open)
		})
	}
}

func TestDirectories(t *testing.T) {
	d, dir := workdir(t, false)
	require.NoError(t, d.createDirectoryAt("a"))
	require.NoError(t, d.createDirectoryAt("a/b/"))
	a := d.openFor(t, "a", openDirectory, flagRead)
	require.NoError(t, a.createDirectoryAt("c"), "what may be changed is passed on")
	a.openFor(t, "f", openCreate, flagWrite)
	require.NoError(t, a.linkAt(0, "f", d, "hard"))
	require.NoError(t, a.renameAt("f", d, "g"))
	require.NoError(t, d.renameAt("g", a, "c/h"))
	require.NoError(t, d.renameAt("hard", d, "soft"))
	require.NoError(t, a.symlinkAt("../soft", "up"))
	assert.FileExists(t, filepath.Join(dir, "a/c/h"))
	assert.FileExists(t, filepath.Join(dir, "soft"))
	target, err := a.readlinkAt("up")
	require.NoError(t, err)
	assert.Equal(t, "../soft", target)

	typ, err := a.getType()
	require.NoError(t, err)
	assert.Equal(t, typeDirectory, typ)
	flags, err := a.getFlags()
	require.NoError(t, err)
	assert.Equal(t, flagRead|flagMutateDirectory, flags)

	require.NoError(t, d.unlinkFileAt("soft"))
	require.NoError(t, a.removeDirectoryAt("b"))
	assert.NoDirExists(t, filepath.Join(dir, "a/b"))
	for name, tc := range map[string]struct {
		err  error
		want errorCode
	}{
		"make twice":       {d.createDirectoryAt("a"), codeExist},
		"remove full":      {d.removeDirectoryAt("a"), codeNotEmpty},
		"remove file":      {d.removeDirectoryAt("a/c/h"), codeNotDirectory},
		"remove itself":    {d.removeDirectoryAt("."), codeInvalid},
		"remove nothing":   {d.removeDirectoryAt("x"), codeNoEntry},
		"unlink directory": {d.unlinkFileAt("a"), codeIsDirectory},
		"unlink nothing":   {d.unlinkFileAt("x"), codeNoEntry},
		"link directory":   {d.linkAt(0, "a", d, "x"), codeNotPermitted},
		"link nothing":     {d.linkAt(0, "x", d, "y"), codeNoEntry},
		"link to there":    {d.linkAt(0, "a/c/h", d, "a"), codeExist},
		"link what a link": {a.linkAt(flagSymlinkFollow, "up", d, "y"), codeUnsupported},
		"rename nothing":   {d.renameAt("x", d, "y"), codeNoEntry},
		"readlink file":    {func() error { _, err := d.readlinkAt("a/c/h"); return err }(), codeInvalid},
	} {
		assert.Equal(t, tc.want, codeOf(tc.err), "%s: %v", name, tc.err)
	}
}

// TestMovedDirectory: a descriptor stays with its directory; only what takes two
// directories needs them where they were.
func TestMovedDirectory(t *testing.T) {
	d, dir := workdir(t, false)
	require.NoError(t, d.createDirectoryAt("a"))
	a := d.openFor(t, "a", openDirectory, flagRead)
	a.openFor(t, "f", openCreate, flagWrite)
	require.NoError(t, d.renameAt("a", d, "b"))
	a.openFor(t, "g", openCreate, flagWrite)
	assert.FileExists(t, filepath.Join(dir, "b/g"))
	require.NoError(t, a.renameAt("g", a, "h"))
	assert.Equal(t, codeNoEntry, codeOf(a.renameAt("f", d, "f")))
	require.NoError(t, d.createDirectoryAt("a"))
	put(t, dir, "a/f", "another")
	assert.Equal(t, codeNoEntry, codeOf(a.renameAt("f", d, "f")), "and not those of another directory")
	assert.Equal(t, codeNoEntry, codeOf(a.setTimes(newTimestamp{Now: true}, newTimestamp{Now: true})))
	assert.FileExists(t, filepath.Join(dir, "a/f"))
}

func TestListing(t *testing.T) {
	d, dir := workdir(t, false)
	want := map[string]descriptorType{}
	for n := range 3 * entryBatch {
		name := "f" + strings.Repeat("x", n)
		put(t, dir, name, "")
		want[name] = typeRegularFile
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
	require.NoError(t, os.Symlink("d", filepath.Join(dir, "l")))
	want["d"], want["l"] = typeDirectory, typeSymbolicLink
	one, err := d.readDirectory()
	require.NoError(t, err)
	defer one.Value.drop()
	_, err = one.Value.next()
	require.NoError(t, err)
	other, err := d.readDirectory()
	require.NoError(t, err)
	defer other.Value.drop()
	got := map[string]descriptorType{}
	for {
		e, err := other.Value.next()
		require.NoError(t, err)
		if e == nil {
			break
		}
		got[e.Name] = e.Type
	}
	assert.Equal(t, want, got)
	e, err := other.Value.next()
	assert.NoError(t, err)
	assert.Nil(t, e, "the end stays the end")
}

func TestStat(t *testing.T) {
	d, dir := workdir(t, false)
	put(t, dir, "f", "text")
	require.NoError(t, os.Symlink("f", filepath.Join(dir, "l")))
	at := datetime{1_000_000_000, 123_000_000}
	f := d.openFor(t, "f", 0, flagRead)
	require.NoError(t, f.setTimes(newTimestamp{Timestamp: &at}, newTimestamp{Timestamp: &at}))
	st, err := f.stat()
	require.NoError(t, err)
	assert.Equal(t, typeRegularFile, st.Type)
	assert.EqualValues(t, 4, st.Size)
	assert.EqualValues(t, 1, st.LinkCount)
	assert.Equal(t, &at, st.DataAccessTimestamp)
	assert.Equal(t, &at, st.DataModificationTimestamp)
	require.NotNil(t, st.StatusChangeTimestamp)

	later := datetime{2_000_000_000, 0}
	require.NoError(t, d.setTimesAt(flagSymlinkFollow, "l", newTimestamp{NoChange: true}, newTimestamp{Timestamp: &later}))
	st, err = d.statAt(flagSymlinkFollow, "l")
	require.NoError(t, err)
	assert.Equal(t, &at, st.DataAccessTimestamp)
	assert.Equal(t, &later, st.DataModificationTimestamp)
	require.NoError(t, d.setTimesAt(0, "f", newTimestamp{Now: true}, newTimestamp{Now: true}))
	st, err = d.statAt(0, "f")
	require.NoError(t, err)
	assert.Less(t, time.Since(time.Unix(int64(st.DataModificationTimestamp.Seconds), 0)), time.Hour)
	st, err = d.statAt(0, "l")
	require.NoError(t, err)
	assert.Equal(t, typeSymbolicLink, st.Type)
	assert.EqualValues(t, 1, st.Size)
	st, err = d.stat()
	require.NoError(t, err)
	assert.Equal(t, typeDirectory, st.Type)

	change := newTimestamp{NoChange: true}
	for name, bad := range map[string]newTimestamp{
		"too many nanoseconds": {Timestamp: &datetime{0, 1e9}},
		"too far away":         {Timestamp: &datetime{1 << 63, 0}},
	} {
		assert.Error(t, f.setTimes(bad, change), name)
		assert.Error(t, d.setTimesAt(0, "f", change, bad), name)
	}
	assert.Equal(t, codeUnsupported, codeOf(d.setTimesAt(0, "l", change, change)))
	assert.Equal(t, codeNoEntry, codeOf(d.setTimesAt(0, "x", change, change)))
	assert.Nil(t, timestampOf(-1))
}

func TestIdentity(t *testing.T) {
	d, dir := workdir(t, false)
	put(t, dir, "f", "text")
	put(t, dir, "g", "text")
	f, again, g := d.openFor(t, "f", 0, readWrite), d.openFor(t, "./f", 0, flagRead), d.openFor(t, "g", 0, flagRead)
	same := d.openFor(t, ".", 0, flagRead)
	assert.True(t, f.isSameObject(again))
	assert.False(t, f.isSameObject(g))
	assert.True(t, d.isSameObject(same))
	assert.False(t, d.isSameObject(f))

	one, err := f.metadataHash()
	require.NoError(t, err)
	two, err := d.metadataHashAt(0, "f")
	require.NoError(t, err)
	assert.Equal(t, one, two)
	other, err := g.metadataHash()
	require.NoError(t, err)
	assert.NotEqual(t, one.Lower, other.Lower)
	_, err = f.write([]byte("longer"), 0)
	require.NoError(t, err)
	changed, err := f.metadataHash()
	require.NoError(t, err)
	assert.Equal(t, one.Lower, changed.Lower, "the same file")
	assert.NotEqual(t, one.Upper, changed.Upper, "in another state")
	_, err = d.metadataHashAt(0, "x")
	assert.Equal(t, codeNoEntry, codeOf(err))
}

func TestReadOnly(t *testing.T) {
	d, dir := workdir(t, true)
	put(t, dir, "f", "text")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
	sub := d.openFor(t, "d", openDirectory, flagRead)
	f := d.openFor(t, "f", 0, flagRead)
	now := newTimestamp{Now: true}
	open := func(how openFlags, flags descriptorFlags) error {
		_, err := d.openAt(0, "f", how, flags)
		return err
	}
	for name, err := range map[string]error{
		"write":    open(0, flagWrite),
		"create":   open(openCreate, flagRead),
		"truncate": open(openTruncate, flagRead),
		"mutate":   open(0, flagMutateDirectory),
		"mkdir":    d.createDirectoryAt("x"),
		"below":    sub.createDirectoryAt("x"),
		"rmdir":    d.removeDirectoryAt("d"),
		"unlink":   d.unlinkFileAt("f"),
		"rename":   d.renameAt("f", sub, "g"),
		"link":     d.linkAt(0, "f", d, "g"),
		"symlink":  d.symlinkAt("f", "g"),
		"times":    f.setTimes(now, now),
		"times at": d.setTimesAt(0, "f", now, now),
	} {
		assert.Equal(t, codeReadOnly, codeOf(err), name)
	}
	flags, err := d.getFlags()
	require.NoError(t, err)
	assert.Equal(t, flagRead, flags)
	assert.NoError(t, d.sync())
	got, err := f.read(10, 0)
	require.NoError(t, err)
	assert.Equal(t, "text", string(got.Data))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 2)
}

func TestOpenFilesAreBounded(t *testing.T) {
	d, dir := workdir(t, false)
	put(t, dir, "f", "")
	var open []interface{ drop() }
	for d.fs.open < maxOpen {
		var own host.Own[*descriptor]
		var err error
		switch d.fs.open % 3 {
		case 0:
			own, err = d.openAt(0, "f", 0, flagRead)
			open = append(open, own.Value)
		case 1:
			own, err = d.openAt(0, ".", 0, flagRead)
			open = append(open, own.Value)
		case 2:
			s, e := d.readDirectory()
			open, err = append(open, s.Value), e
		}
		require.NoError(t, err)
	}
	_, err := d.openAt(0, "f", 0, flagRead)
	assert.Equal(t, codeWouldBlock, codeOf(err))
	_, err = d.readDirectory()
	assert.Equal(t, codeWouldBlock, codeOf(err))
	for _, o := range open {
		o.drop()
	}
	assert.Zero(t, d.fs.open)
}

func TestNoDirectory(t *testing.T) {
	i, err := newInstance(Config{})
	require.NoError(t, err)
	found, err := i.preopens(context.Background())
	assert.NoError(t, err)
	assert.Empty(t, found)
	assert.Nil(t, i.cwd)
}
