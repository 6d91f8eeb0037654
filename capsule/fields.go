package capsule

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// A field is a key that a mapping of the manifest can have: a section with
// fields of its own, or a value.
type field struct {
	key string
	sub []field
	set setter
}

// A setter takes a value of the right type into the manifest. Whether it is in
// range is for Validate to say.
type setter func(d *decoder, path string, n ast.Node) *Error

// manifestFields lists every key of the file.
func manifestFields(m *Manifest) []field {
	g, c, s, l := &m.Guest, &m.Capabilities, &m.Capabilities.Shell, &m.Lifecycle
	return []field{
		{key: "name", set: text(&m.Name)},
		{key: "version", set: text(&m.Version)},
		{key: "guest", sub: []field{
			{key: "path", set: text(&g.Path)},
			{key: "args", set: texts(&g.Args)},
			{key: "env", set: textMap(&g.Env)},
			{key: "memory", set: size(&g.Memory)},
			{key: "compute_secs", set: limit(&g.Compute)},
		}},
		{key: "capabilities", sub: []field{
			{key: "shell", sub: []field{
				{key: "allow", set: texts(&s.Allow)},
				{key: "allow_env", set: texts(&s.AllowEnv)},
				{key: "baseline_env", set: texts(&s.BaselineEnv)},
				{key: "strip_env", set: texts(&s.StripEnv)},
			}},
			{key: "containment", set: word(&c.Containment)},
			{key: "require", set: texts(&c.Require)},
			{key: "filesystem", sub: []field{
				{key: "read", set: texts(&c.Filesystem.Read)},
				{key: "write", set: texts(&c.Filesystem.Write)},
				{key: "workdir_exec", set: boolean(&c.Filesystem.WorkdirExec)},
			}},
			{key: "network", set: text(&c.Network)},
			{key: "resources", sub: resourceFields(&c.Resources)},
		}},
		{key: "lifecycle", sub: []field{
			{key: "task_acceptance", set: text(&l.TaskAcceptance)},
			{key: "after_task", set: text(&l.AfterTask)},
			{key: "queue_depth", set: integer(&l.QueueDepth)},
			{key: "shell_grace_secs", set: number(&l.ShellGraceSecs)},
			{key: "shell_max_runtime_secs", set: integer(&l.ShellMaxRuntimeSecs)},
			{key: "shell_max_running", set: integer(&l.ShellMaxRunning)},
			{key: "shell_detach", set: boolean(&l.ShellDetach)},
			{key: "shell_survives", set: boolean(&l.ShellSurvives)},
		}},
	}
}

// resourceFields are in the order of the documentation.
func resourceFields(r *Resources) []field {
	return []field{
		{key: "max_processes", set: amount(&r.MaxProcesses)},
		{key: "max_open_files", set: amount(&r.MaxOpenFiles)},
		{key: "max_file_size_bytes", set: bytesOf(&r.MaxFileSizeBytes)},
		{key: "cpu_seconds", set: amount(&r.CPUSeconds)},
		{key: "memory_bytes", set: bytesOf(&r.MemoryBytes)},
		{key: "cgroup_memory_bytes", set: bytesOf(&r.CgroupMemoryBytes)},
		{key: "cgroup_pids_max", set: amount(&r.CgroupPidsMax)},
		{key: "workdir_max_bytes", set: bytesOf(&r.WorkdirMaxBytes)},
		{key: "max_output_bytes", set: bytesOf(&r.MaxOutputBytes)},
	}
}

func find(fields []field, key string) *field {
	for i := range fields {
		if fields[i].key == key {
			return &fields[i]
		}
	}
	return nil
}

func text(to *string) setter {
	return func(_ *decoder, path string, n ast.Node) (err *Error) {
		*to, err = textOf(path, n)
		return err
	}
}

// word is text for a field in which an empty text stands for its absence.
func word(to *string) setter {
	return func(d *decoder, path string, n ast.Node) *Error {
		if err := text(to)(d, path, n); err != nil {
			return err
		}
		if *to == "" {
			return wrong(path, "it is empty; leave it out for the default").atNode(n)
		}
		return nil
	}
}

func textOf(path string, n ast.Node) (string, *Error) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return "", wrong(path, "a text, got %s: put it in quotes", describe(n)).atNode(n)
	}
	return "", wrong(path, "a text, got %s", describe(n)).atNode(n)
}

func texts(to *[]string) setter {
	return func(d *decoder, path string, n ast.Node) *Error {
		list, ok := n.(*ast.SequenceNode)
		if !ok {
			return wrong(path, "a list of texts, got %s", describe(n)).atNode(n)
		}
		*to = make([]string, len(list.Values))
		for i, v := range list.Values {
			at := item(path, i)
			d.note(at, v)
			if err := text(&(*to)[i])(d, at, v); err != nil {
				return err
			}
		}
		return nil
	}
}

func textMap(to *map[string]string) setter {
	return func(d *decoder, path string, n ast.Node) *Error {
		entries, err := mappingEntries(path, n)
		if err != nil {
			return err
		}
		*to = make(map[string]string, len(entries))
		for _, e := range entries {
			at := join(path, e.key)
			d.note(at, e.node.Value)
			if (*to)[e.key], err = textOf(at, e.node.Value); err != nil {
				return err
			}
		}
		return nil
	}
}

func integer(to *int) setter {
	return func(_ *decoder, path string, n ast.Node) *Error {
		if v, ok := n.(*ast.IntegerNode); ok {
			if i, ok := intOf(v); ok {
				*to = i
				return nil
			}
		}
		return wrong(path, "a whole number, got %s", describe(n)).atNode(n)
	}
}

// amount takes a whole number above zero. Zero is refused here, since it may
// stand for no limit in the manifest that Validate sees.
func amount(to *int64) setter {
	return func(d *decoder, path string, n ast.Node) *Error {
		var i int
		if err := integer(&i)(d, path, n); err != nil {
			return err
		}
		if i < 1 {
			return wrong(path, "more than 0, got %d; leave it out for the default", i).atNode(n)
		}
		*to = int64(i)
		return nil
	}
}

// bytesOf is amount for a size.
func bytesOf(to *int64) setter {
	return func(d *decoder, path string, n ast.Node) *Error {
		var bytes uint64
		if err := size(&bytes)(d, path, n); err != nil {
			return err
		}
		if bytes < 1 || bytes > math.MaxInt64 {
			return wrong(path, "more than 0, less than 8 EiB, got %s; leave it out for the default", describe(n)).atNode(n)
		}
		*to = int64(bytes)
		return nil
	}
}

func intOf(n *ast.IntegerNode) (int, bool) {
	switch v := n.Value.(type) {
	case int64:
		return int(v), int64(int(v)) == v
	case uint64:
		return int(v), v <= math.MaxInt
	}
	return 0, false
}

func number(to *float64) setter {
	return func(_ *decoder, path string, n ast.Node) *Error {
		switch v := n.(type) {
		case *ast.FloatNode:
			*to = v.Value
			return nil
		case *ast.IntegerNode:
			if i, ok := intOf(v); ok {
				*to = float64(i)
				return nil
			}
		}
		return wrong(path, "a number, got %s", describe(n)).atNode(n)
	}
}

func boolean(to *bool) setter {
	return func(_ *decoder, path string, n ast.Node) *Error {
		v, ok := n.(*ast.BoolNode)
		if !ok {
			return wrong(path, "true or false, got %s", describe(n)).atNode(n)
		}
		*to = v.Value
		return nil
	}
}

// limit takes a number of seconds above zero, or "none". Zero is refused here,
// since it stands for none in the manifest that Validate sees.
func limit(to *time.Duration) setter {
	return func(d *decoder, path string, n ast.Node) *Error {
		if s, ok := n.(*ast.StringNode); ok && s.Value == "none" {
			*to = 0
			return nil
		}
		var secs float64
		if err := number(&secs)(d, path, n); err != nil {
			return wrong(path, `a number of seconds or "none", got %s`, describe(n)).atNode(n)
		}
		if !(secs >= 0.001) || secs > maxCompute.Seconds() {
			return wrong(path, `from 0.001 to %v seconds, or "none", got %s`, maxCompute.Seconds(), describe(n)).atNode(n)
		}
		*to = time.Duration(secs * float64(time.Second))
		return nil
	}
}

var sizeUnits = []struct {
	suffix string
	shift  uint
}{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}}

// size takes a number of bytes, or a text with a unit.
func size(to *uint64) setter {
	return func(_ *decoder, path string, n ast.Node) *Error {
		switch v := n.(type) {
		case *ast.IntegerNode:
			if i, ok := intOf(v); ok && i >= 0 {
				*to = uint64(i)
				return nil
			}
		case *ast.StringNode:
			if bytes, ok := parseSize(v.Value); ok {
				*to = bytes
				return nil
			}
		}
		return wrong(path, `a number of bytes or a size such as "512MiB" (KiB, MiB, GiB), got %s`, describe(n)).atNode(n)
	}
}

func parseSize(s string) (uint64, bool) {
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		v, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 64)
		return v << u.shift, err == nil && v <= math.MaxUint64>>u.shift
	}
	return 0, false
}
