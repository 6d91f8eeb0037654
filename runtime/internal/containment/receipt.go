package containment

// A Receipt says what was asked for, what is enforced and by which mechanism,
// and what is not and why. It is plain data: it goes into traces and durable
// records as it is.
type Receipt struct {
	// Class is the class that was given.
	Class Class `json:"class"`
	// Asked is the class that was asked for; absent, if none was.
	Asked Class `json:"asked,omitempty"`
	// Require lists the dimensions that had to be enforced.
	Require []Dimension `json:"require,omitempty"`
	// Pending says that no command has been seen running under the profile yet:
	// what is enforced is what was planned.
	Pending bool `json:"pending,omitempty"`
	// Enforced has the mechanisms of each dimension that is enforced.
	Enforced map[Dimension][]string `json:"enforced"`
	// NotEnforced has, for each other dimension, the reason.
	NotEnforced map[Dimension]string `json:"not_enforced"`
	// Limits tells the same for each resource limit.
	Limits []LimitReceipt `json:"limits"`
	// Network is what the command may reach: none or host.
	Network Network `json:"network"`
	// UID is the user the command runs as.
	UID int `json:"uid"`
	// Notes are facts that an operator should know about this host.
	Notes []string `json:"notes,omitempty"`
	// Verified is what the kernel said about a running command; absent while
	// pending, and where nothing can be read.
	Verified *Verified `json:"verified,omitempty"`
}

// A LimitReceipt tells about one resource limit.
type LimitReceipt struct {
	// Name is the manifest's name of the limit.
	Name string `json:"name"`
	// Value is the limit.
	Value int64 `json:"value"`
	// By is the mechanism that enforces it; absent if none does.
	By string `json:"by,omitempty"`
	// Why says why nothing enforces it.
	Why string `json:"why,omitempty"`
}

// Verified is what the kernel reports about the command's first process,
// read while it was held at its exec.
type Verified struct {
	NoNewPrivs   bool   `json:"no_new_privs"`
	Seccomp      bool   `json:"seccomp"`
	Capabilities string `json:"capabilities_effective"`
	Bounding     string `json:"capabilities_bounding"`
	UID          int    `json:"uid"`
}

// Holds tells whether d is enforced.
func (r Receipt) Holds(d Dimension) bool { return len(r.Enforced[d]) > 0 }

// Confirmed is r after a command was seen running under it.
func (r Receipt) Confirmed(v *Verified) Receipt {
	r.Pending = false
	r.Verified = v
	return r
}
