package containment

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A Class names how far a command is kept from the host.
type Class string

// The classes, weakest first.
const (
	// Advisory: resource limits, an environment of ours and a process group.
	Advisory Class = "advisory"
	// Scoped: the host's root, with kernel rules on what may be reached.
	Scoped Class = "scoped"
	// Sealed: a root, a process tree and a network of the command's own.
	Sealed Class = "sealed"
)

// A Dimension is one thing that containment can take away from a command.
type Dimension string

// The dimensions, in the order receipts list them.
const (
	DimFilesystem   Dimension = "filesystem"
	DimProcessTree  Dimension = "process_tree"
	DimNetwork      Dimension = "network"
	DimMemory       Dimension = "memory"
	DimProcessCount Dimension = "process_count"
	DimWallClock    Dimension = "wall_clock"
)

// Dimensions lists every dimension, in the order receipts use.
func Dimensions() []Dimension {
	return []Dimension{DimFilesystem, DimProcessTree, DimNetwork, DimMemory, DimProcessCount, DimWallClock}
}

// A Network says what a command may reach over sockets.
type Network string

// The networks. Lists of hosts would be further values of an Ask; none exist.
const (
	// NetworkNone is the default: no host is reachable. Where a namespace gives
	// the session a loopback interface of its own, that one works.
	NetworkNone Network = "none"
	// NetworkHost grants the host's network.
	NetworkHost Network = "host"
)

// An Ask is what a manifest wants for the commands of a session. The zero value
// asks for the defaults.
type Ask struct {
	// Class is a floor: a host that cannot give it refuses the launch. Empty
	// stands for the best up to scoped that the host gives.
	Class Class `json:"containment,omitempty"`
	// Require names dimensions that must be enforced whatever the class.
	Require []Dimension `json:"require,omitempty"`
	// Filesystem grants paths beyond the workdir and the system's own.
	Filesystem Paths `json:"filesystem,omitzero"`
	// Network defaults to none.
	Network Network `json:"network,omitempty"`
	// Resources are the limits; what is absent has its default.
	Resources Resources `json:"resources,omitzero"`
}

// Paths are grants on the filesystem: absolute, or beginning with "~/".
type Paths struct {
	// Read grants reading a file or a tree, and running what is in it.
	Read []string `json:"read,omitempty"`
	// Write grants reading, changing and creating in a tree.
	Write []string `json:"write,omitempty"`
	// WorkdirExec says whether files in the workdir may be executed. Absent
	// stands for true: builds and tests run what they build. Only sealed can
	// really withhold it; see the package documentation.
	WorkdirExec *bool `json:"workdir_exec,omitempty"`
}

// Validate checks everything about a that does not depend on the host. The
// error names the field as the manifest spells it.
func (a Ask) Validate() error {
	if !slices.Contains([]Class{"", Advisory, Scoped, Sealed}, a.Class) {
		return fmt.Errorf("containment: %q is none of advisory, scoped, sealed", a.Class)
	}
	if !slices.Contains([]Network{"", NetworkNone, NetworkHost}, a.Network) {
		return fmt.Errorf("network: %q is none of none, host", a.Network)
	}
	if err := a.validateRequire(); err != nil {
		return err
	}
	if err := validatePaths("filesystem.read", a.Filesystem.Read); err != nil {
		return err
	}
	if err := validatePaths("filesystem.write", a.Filesystem.Write); err != nil {
		return err
	}
	_, err := a.Resources.Limits()
	return err
}

func (a Ask) validateRequire() error {
	for _, d := range a.Require {
		if !slices.Contains(Dimensions(), d) {
			return fmt.Errorf("require: %q is no dimension (%s)", d, joined(Dimensions()))
		}
		if d == DimNetwork && a.Network == NetworkHost {
			return fmt.Errorf("require: network cannot be required together with network: host")
		}
	}
	return nil
}

func validatePaths(field string, paths []string) error {
	for i, p := range paths {
		name := fmt.Sprintf("%s[%d]", field, i)
		switch {
		case strings.ContainsRune(p, 0):
			return fmt.Errorf("%s: %q holds a NUL byte", name, p)
		case p != "~" && !strings.HasPrefix(p, "~/") && !filepath.IsAbs(p):
			return fmt.Errorf("%s: %q is neither absolute nor begins with ~/", name, p)
		case slices.Contains(strings.Split(p, "/"), ".."):
			return fmt.Errorf("%s: %q must not contain a parent element", name, p)
		case filepath.Clean(p) == "/":
			return fmt.Errorf("%s: the whole root cannot be granted; use containment: advisory", name)
		}
	}
	return nil
}

func joined[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = string(w)
	}
	return strings.Join(words, ", ")
}
