package shell

import (
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Variables that a command always gets, or gets from the host if it has them.
// Everything else that the host has stays with the host.
var (
	inherited = []string{"LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_NUMERIC", "LC_TIME", "TZ", "USER", "LOGNAME"}
	// On Windows little works without these.
	inheritedWindows = []string{"SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "SYSTEMDRIVE"}
)

// credentials are patterns for names whose values are never taken from the
// host, not even when the manifest's baseline names them.
var credentials = []string{
	"*_KEY", "*_KEY_*", "*APIKEY*", "*_TOKEN", "*_TOKEN_*", "TOKEN", "*SECRET*", "*PASSW*", "*PASSPHRASE*",
	"*_PWD", "*CREDENTIAL*", "*_AUTH", "*_AUTH_*", "*_PAT", "*COOKIE*", "*_DSN", "*PRIVATE*",
	"DATABASE_URL", "*_DATABASE_URL", "*_URI", "REDIS_URL", "AMQP_URL", "*_CONNECTION_STRING",
	"AWS_*", "AZURE_*", "GOOGLE_*", "GCP_*", "GCLOUD_*", "CLOUDSDK_*", "ALIYUN_*", "DIGITALOCEAN_*",
	"GITHUB_*", "GH_*", "GITLAB_*", "CI_JOB_*", "OPENAI_*", "ANTHROPIC_*", "HF_*", "NPM_CONFIG_*",
	"VAULT_*", "KUBECONFIG", "DOCKER_CONFIG", "NETRC", "PGPASSFILE", "MYSQL_PWD",
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_*", "GNUPGHOME", "DBUS_SESSION_BUS_ADDRESS",
}

// loaders are patterns for names that make a program run code of the value's
// choosing before it does its own work. A request may not set them: it would
// turn every binary of the allow list into any other.
var loaders = []string{
	"LD_*", "DYLD_*", "GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH", "NLSPATH", "MALLOC_*", "HOSTALIASES",
	"PATH", "IFS", "CDPATH", "SHELL", "SHELLOPTS", "BASHOPTS", "BASH_ENV", "BASH_FUNC_*", "BASH_LOADABLES_PATH",
	"BASH_XTRACEFD", "ENV", "PS4", "PROMPT_COMMAND", "ZDOTDIR", "FPATH", "INPUTRC",
	"NODE_OPTIONS", "NODE_PATH", "NODE_REPL_*", "NPM_CONFIG_*", "PYTHON*", "PERL*", "RUBYOPT", "RUBYLIB", "GEM_*", "BUNDLE_*",
	"LUA_*", "PHPRC", "PHP_INI_SCAN_DIR", "TCLLIBPATH", "R_PROFILE*", "R_ENVIRON*", "ERL_*FLAGS", "ELIXIR_ERL_OPTIONS",
	"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_*_OPTIONS", "CLASSPATH", "MAVEN_*", "GRADLE_*", "JAVA_OPTS",
	"DOTNET_STARTUP_HOOKS", "COR_*", "CORECLR_*", "RUSTC*", "RUSTDOC", "CARGO_*", "GOFLAGS", "GOTOOLDIR", "GOROOT", "GOENV",
	"GIT_*", "SSH_ASKPASS*", "SUDO_*", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESS*", "MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS",
	"OPENSSL_*", "TAR_OPTIONS", "RSYNC_RSH", "CVS_RSH", "SVN_SSH", "SVN_EDITOR", "HGRCPATH", "TERMINFO*", "TERMCAP",
	"GCC_EXEC_PREFIX", "COMPILER_PATH", "GUILE_*", "JULIA_*", "EMACSLOADPATH", "VIMINIT", "EXINIT", "AWKPATH", "AWKLIBPATH",
	"DOTNET_ADDITIONAL_DEPS", "DOTNET_SHARED_STORE", "PSMODULEPATH", "GTK_*MODULE*", "GIO_*MODULE*", "QT_*PLUGIN*", "MURMUR_*",
}

// harmless are names that a pattern of loaders catches by accident.
var harmless = []string{
	"GIT_AUTHOR_*", "GIT_COMMITTER_*", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "GIT_CEILING_DIRECTORIES",
	"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONFAULTHANDLER",
	"PERL_HASH_SEED", "LESSCHARSET", "CARGO_TERM_*", "CARGO_INCREMENTAL",
}

// matches reports whether a pattern fits name, in whatever case it is written.
func matches(patterns []string, name string) bool {
	name = strings.ToUpper(name)
	for _, p := range patterns {
		if ok, _ := path.Match(strings.ToUpper(p), name); ok {
			return true
		}
	}
	return false
}

// environment is an environment in the making. A name is in it once.
type environment struct {
	names  map[string]int
	values []string
}

func newEnvironment(base []string) *environment {
	e := &environment{names: make(map[string]int, len(base)+8), values: make([]string, 0, len(base)+8)}
	for _, kv := range base {
		name, value, _ := strings.Cut(kv, "=")
		e.set(name, value)
	}
	return e
}

func (e *environment) set(name, value string) {
	if i, ok := e.names[name]; ok {
		e.values[i] = name + "=" + value
		return
	}
	e.names[name] = len(e.values)
	e.values = append(e.values, name+"="+value)
}

// baseline puts together what every command of a policy gets.
func (c *Config) baseline(searchPath []string) []string {
	e := newEnvironment([]string{"LANG=C.UTF-8", "TERM=dumb"})
	if runtime.GOOS != "windows" {
		// POSIX has it everywhere. Without a value a shell looks its user up in the
		// system's databases, at every start.
		e.set("SHELL", "/bin/sh")
	}
	e.set("HOME", c.Inside(filepath.Join(c.Workdir.path, homeDir)))
	e.set("TMPDIR", c.Inside(c.Workdir.Temp()))
	names := inherited
	if runtime.GOOS == "windows" {
		names = append(names, inheritedWindows...)
	}
	names = append(names[:len(names):len(names)], c.BaselineEnv...)
	for _, kv := range c.Host {
		name, value, ok := strings.Cut(kv, "=")
		if ok && slices.Contains(names, name) && !c.stripped(name) {
			e.set(name, value)
		}
	}
	// Whatever the baseline names, what runs is looked up on a path of ours.
	e.set("PATH", joinPath(searchPath))
	e.set("MURMUR_WORKDIR", c.Inside(c.Workdir.path))
	return e.values
}

func (c *Config) stripped(name string) bool {
	return matches(credentials, name) || matches(c.StripEnv, name)
}

// override sets the variables of a request.
func (p *Policy) override(e *environment, vars []Variable) error {
	for _, v := range vars {
		field := "env." + quoteField(v.Name)
		switch {
		case !validName(v.Name):
			return fieldError(field, "not a name of a variable: letters, digits and _ are, with no digit first")
		case matches(loaders, v.Name) && !matches(harmless, v.Name) && !matches(p.config.AllowEnv, v.Name):
			return fieldError(field, "may not be set by a request")
		}
		if err := checkArgument(field, v.Value); err != nil {
			return err
		}
		if size := len(v.Name) + 1 + len(v.Value); size > MaxArgument {
			return fieldError(field, "%d bytes with its name, the limit is %d", size, MaxArgument)
		}
		e.set(v.Name, v.Value)
	}
	return nil
}

func validName(name string) bool {
	if name == "" || len(name) > 255 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func checkPatterns(field string, patterns []string) error {
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			return fmt.Errorf("%s: %s is not a pattern", field, Quote(p))
		}
	}
	return nil
}
