package component

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/murmur-capsule/murmur/host/internal/canon"
	"github.com/murmur-capsule/murmur/host/internal/precheck"
)

// newRuntime makes an engine as the host configures it.
func newRuntime(t testing.TB) wazero.Runtime {
	t.Helper()
	r := wazero.NewRuntimeWithConfig(context.Background(), wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2|experimental.CoreFeaturesExtendedConst))
	t.Cleanup(func() { require.NoError(t, r.Close(context.Background())) })
	return r
}

// checked is the hook that the host runs on every core module.
func checked(module []byte) ([]byte, error) {
	_, err := precheck.Check(module, precheck.Limits{})
	return module, err
}

// wastCommand is one top-level form of a script, ready to run.
type wastCommand struct {
	form      *sexpr
	component *wastComponent // the component in it, if there is one
	text      int            // its text to convert, or -1
}

// wastFile is a script.
type wastFile struct {
	name     string
	src      string
	commands []*wastCommand
}

func readScript(name, src string, texts *[]string) (*wastFile, error) {
	forms, err := parseScript(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f := &wastFile{name: name, src: src}
	for _, form := range forms {
		c := &wastCommand{form: form, text: -1}
		switch {
		case form.head() == "component":
			c.component = newWastComponent(form)
		case len(form.list) > 1 && form.list[1].head() == "component":
			c.component = newWastComponent(form.list[1])
		}
		if c.component != nil {
			if text := c.component.text(src); text != "" {
				c.text = len(*texts)
				*texts = append(*texts, text)
			}
		}
		f.commands = append(f.commands, c)
	}
	return f, nil
}

// outcome is how one command went.
type outcome struct {
	line int
	what string
	err  error
	// skip says why the command was not run.
	skip string
}

// wastRunner runs one script.
type wastRunner struct {
	runtime     wazero.Runtime
	definitions map[string]*Component
	instances   map[string]*Instance
	imports     Items
	last        *Instance
	lastDef     *Component
}

func newWastRunner(t *testing.T, runtime wazero.Runtime) *wastRunner {
	return &wastRunner{runtime: runtime, definitions: map[string]*Component{}, instances: map[string]*Instance{},
		imports: suiteHost(t, runtime)}
}

// run runs the commands of a script; conversions holds the binaries of all
// texts.
func (r *wastRunner) run(ctx context.Context, f *wastFile, conversions []converted) []outcome {
	var out []outcome
	for _, c := range f.commands {
		o := outcome{line: c.form.line, what: c.form.head()}
		if c.component != nil && c.text >= 0 {
			c.component.binary, c.component.fault = conversions[c.text].Wasm, conversions[c.text].Error
		}
		switch {
		case c.component != nil && c.component.kind == "quote":
			o.skip = skipQuote
		case c.component != nil && c.component.fault != "":
			o.skip = skipText
		default:
			o.err = r.guarded(ctx, c)
		}
		out = append(out, o)
	}
	return out
}

// config is what every instance gets. Scripts pass strings as long as an
// address space, to see them refused for the right reason.
func (r *wastRunner) config() InstanceConfig {
	return InstanceConfig{Imports: r.imports, Limits: canon.Limits{ValueBytes: 1<<31 - 1, CallBytes: 1 << 40}}
}

// guarded runs a command; a panic is its failure.
func (r *wastRunner) guarded(ctx context.Context, c *wastCommand) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return r.command(ctx, c)
}

func (r *wastRunner) command(ctx context.Context, c *wastCommand) error {
	form := c.form
	switch form.head() {
	case "component":
		return r.component(ctx, c.component)
	case "invoke":
		_, _, err := r.invoke(ctx, form)
		return err
	case "assert_return":
		return r.assertReturn(ctx, form)
	case "assert_trap":
		return r.assertTrap(ctx, c)
	case "assert_invalid", "assert_malformed":
		comp, err := Load(ctx, r.runtime, c.component.binary, Options{Prepare: checked})
		if err == nil {
			return fmt.Errorf("accepted, expected %q: %v", form.list[2].text, comp.Close(ctx))
		}
		return saying(err, form.list[2].text)
	case "assert_unlinkable":
		comp, err := Load(ctx, r.runtime, c.component.binary, Options{Prepare: checked})
		if err != nil {
			return err
		}
		_, err = comp.Instantiate(ctx, r.config())
		return saying(err, form.list[2].text)
	case "register":
		r.imports[form.list[1].text] = r.instances[form.word(2)].Exports()
		return nil
	}
	return fmt.Errorf("unknown command %q", form.head())
}

// reworded are messages that another layer of ours says in its own words.
var reworded = map[string]string{
	// The core engine's words.
	"wasm `unreachable` instruction executed": "unreachable",
	"type mismatch": "i32 missing",
}

// saying checks that an error came, and in the expected words.
func saying(err error, want string) error {
	if err == nil {
		return fmt.Errorf("no error, expected %q", want)
	}
	want = strings.TrimPrefix(want, "wasm trap: ")
	if strings.Contains(err.Error(), want) {
		return nil
	}
	if other, ok := reworded[want]; ok && strings.Contains(err.Error(), other) {
		return nil
	}
	return fmt.Errorf("expected %q, got: %w", want, err)
}

func (r *wastRunner) component(ctx context.Context, c *wastComponent) error {
	def := r.lastDef
	switch {
	case c.kind != "instance":
		var err error
		if def, err = Load(ctx, r.runtime, c.binary, Options{Prepare: checked}); err != nil {
			return err
		}
	case c.target != "":
		def = r.definitions[c.target]
	}
	if c.kind == "definition" {
		r.lastDef = def
		r.definitions[c.name] = def
		return nil
	}
	if def == nil {
		return fmt.Errorf("nothing to instantiate: %q", c.target)
	}
	i, err := def.Instantiate(ctx, r.config())
	if err != nil {
		return err
	}
	if old := r.instances[c.name]; old != nil {
		// Some scripts make instances with gigabytes of memory one after another.
		if err := old.Close(ctx); err != nil {
			return err
		}
	}
	r.instances[c.name] = i
	r.last = i
	if c.name != "" {
		r.imports[strings.TrimPrefix(c.name, "$")] = i.Exports()
	}
	return nil
}

// invoke runs (invoke $i? "name" arg*).
func (r *wastRunner) invoke(ctx context.Context, form *sexpr) (canon.Value, *canon.Type, error) {
	in, rest := r.last, form.list[1:]
	if name := form.word(1); name != "" {
		in, rest = r.instances[name], rest[1:]
	}
	f, ok := in.Exports()[rest[0].text].(*Func)
	if !ok {
		return canon.Value{}, nil, fmt.Errorf("no function %q is exported", rest[0].text)
	}
	if f.Type() == nil {
		_, err := f.Export()
		return canon.Value{}, nil, err
	}
	var args []canon.Value
	for i, a := range rest[1:] {
		v, err := literal(a, f.Type().Params[i].Type)
		if err != nil {
			return v, nil, err
		}
		args = append(args, v)
	}
	var result canon.Value
	err := f.Call(ctx, args, &result)
	return result, f.Type().Result, err
}

func (r *wastRunner) assertReturn(ctx context.Context, form *sexpr) error {
	got, t, err := r.invoke(ctx, form.list[1])
	if err != nil || len(form.list) < 3 {
		return err
	}
	want, err := literal(form.list[2], t)
	if err != nil {
		return err
	}
	if !canon.EqualValues(t, got, want) {
		return fmt.Errorf("got %s, expected %s", canon.Format(t, got), canon.Format(t, want))
	}
	return nil
}

func (r *wastRunner) assertTrap(ctx context.Context, c *wastCommand) error {
	want := c.form.list[2].text
	if c.component != nil {
		def, err := Load(ctx, r.runtime, c.component.binary, Options{Prepare: checked})
		if err != nil {
			return fmt.Errorf("does not load: %w", err)
		}
		_, err = def.Instantiate(ctx, r.config())
		return saying(err, want)
	}
	_, _, err := r.invoke(ctx, c.form.list[1])
	return saying(err, want)
}
