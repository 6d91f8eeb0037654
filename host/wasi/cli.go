package wasi

import (
	"context"

	"github.com/murmur-capsule/murmur/host"
)

// A variable is one of the environment: tuple<string, string>.
type variable struct{ Name, Value string }

// WITTuple says that a variable travels as a tuple.
func (variable) WITTuple() {}

var environmentPlugin = host.NewPlugin(named("wasi:cli/environment"),
	host.Method0("get-environment", func(i *instance, _ context.Context) ([]variable, error) { return i.env, nil }),
	host.Method0("get-arguments", func(i *instance, _ context.Context) ([]string, error) { return i.args, nil }),
	host.Method0("initial-cwd", func(i *instance, _ context.Context) (*string, error) { return i.cwd, nil }),
)

// plain is WIT's bare result.
type plain = host.Result[host.Unit, host.Unit]

// A guest exits by an error that host knows.
var exitPlugin = host.NewPlugin(named("wasi:cli/exit"),
	host.Proc1("exit", func(_ context.Context, status plain) error {
		if status.IsErr {
			return &host.ExitError{Code: 1}
		}
		return &host.ExitError{}
	}),
	host.Proc1("exit-with-code", func(_ context.Context, code uint8) error {
		return &host.ExitError{Code: int(code)}
	}),
)

var (
	stdinPlugin = host.NewPlugin(named("wasi:cli/stdin"), inputResource.Used(),
		host.Method0("get-stdin", func(i *instance, _ context.Context) (host.Own[*inputStream], error) { return i.openStdin(), nil }),
	)
	stdoutPlugin = host.NewPlugin(named("wasi:cli/stdout"), outputResource.Used(),
		host.Method0("get-stdout", func(i *instance, _ context.Context) (host.Own[*outputStream], error) {
			return host.Own[*outputStream]{Value: &outputStream{i: i, dst: i.stdout}}, nil
		}),
	)
	stderrPlugin = host.NewPlugin(named("wasi:cli/stderr"), outputResource.Used(),
		host.Method0("get-stderr", func(i *instance, _ context.Context) (host.Own[*outputStream], error) {
			return host.Own[*outputStream]{Value: &outputStream{i: i, dst: i.stderr}}, nil
		}),
	)
)

func (i *instance) openStdin() host.Own[*inputStream] {
	i.stdin.retain()
	return host.Own[*inputStream]{Value: &inputStream{i: i, src: i.stdin}}
}

// The standard streams of a guest are never a terminal, so that there is no value
// of these.
type (
	terminalInput  struct{}
	terminalOutput struct{}

	ownTerminalInput  = host.Own[*terminalInput]
	ownTerminalOutput = host.Own[*terminalOutput]
)

var (
	terminalInputResource  = host.NewResource[*terminalInput]("terminal-input", nil)
	terminalOutputResource = host.NewResource[*terminalOutput]("terminal-output", nil)

	terminalInputPlugin  = host.NewPlugin(named("wasi:cli/terminal-input"), terminalInputResource)
	terminalOutputPlugin = host.NewPlugin(named("wasi:cli/terminal-output"), terminalOutputResource)

	terminalStdinPlugin = host.NewPlugin(named("wasi:cli/terminal-stdin"), terminalInputResource.Used(),
		host.Func0("get-terminal-stdin", none[ownTerminalInput]))
	terminalStdoutPlugin = host.NewPlugin(named("wasi:cli/terminal-stdout"), terminalOutputResource.Used(),
		host.Func0("get-terminal-stdout", none[ownTerminalOutput]))
	terminalStderrPlugin = host.NewPlugin(named("wasi:cli/terminal-stderr"), terminalOutputResource.Used(),
		host.Func0("get-terminal-stderr", none[ownTerminalOutput]))
)

func none[T any](context.Context) (*T, error) { return nil, nil }
