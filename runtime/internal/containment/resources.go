package containment

import "fmt"

// Resources are the limits a manifest may set. A nil field is absent and has
// its default; zero and less are refused, since a limit of nothing is always a
// mistake.
type Resources struct {
	MaxProcesses      *int64 `json:"max_processes,omitempty"`
	MaxOpenFiles      *int64 `json:"max_open_files,omitempty"`
	MaxFileSizeBytes  *int64 `json:"max_file_size_bytes,omitempty"`
	CPUSeconds        *int64 `json:"cpu_seconds,omitempty"`
	MemoryBytes       *int64 `json:"memory_bytes,omitempty"`
	CgroupMemoryBytes *int64 `json:"cgroup_memory_bytes,omitempty"`
	CgroupPidsMax     *int64 `json:"cgroup_pids_max,omitempty"`
	WorkdirMaxBytes   *int64 `json:"workdir_max_bytes,omitempty"`
	MaxOutputBytes    *int64 `json:"max_output_bytes,omitempty"`
}

// Limits are settled resource limits, one command each, except WorkdirMaxBytes.
type Limits struct {
	// MaxProcesses bounds the tasks (processes and threads) of a command.
	MaxProcesses int64 `json:"max_processes"`
	// MaxOpenFiles bounds the descriptors of each process.
	MaxOpenFiles int64 `json:"max_open_files"`
	// MaxFileSizeBytes bounds each file that a process writes.
	MaxFileSizeBytes int64 `json:"max_file_size_bytes"`
	// CPUSeconds bounds the processor time of each process.
	CPUSeconds int64 `json:"cpu_seconds"`
	// MemoryBytes bounds the address space of each process. Zero stands for no
	// limit, the default: one stops runtimes that reserve far more than they use.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	// CgroupMemoryBytes bounds the memory of the whole command.
	CgroupMemoryBytes int64 `json:"cgroup_memory_bytes"`
	// CgroupPidsMax bounds the tasks of the whole command.
	CgroupPidsMax int64 `json:"cgroup_pids_max"`
	// WorkdirMaxBytes bounds what the workdir may hold when a command starts.
	WorkdirMaxBytes int64 `json:"workdir_max_bytes"`
	// MaxOutputBytes bounds the captured output; the capture enforces it.
	MaxOutputBytes int64 `json:"max_output_bytes"`
}

const (
	mebi = int64(1) << 20
	gibi = int64(1) << 30
)

// DefaultLimits are the limits of a manifest that sets none.
func DefaultLimits() Limits {
	return Limits{
		MaxProcesses:      128,
		MaxOpenFiles:      1024,
		MaxFileSizeBytes:  4 * gibi,
		CPUSeconds:        3600,
		CgroupMemoryBytes: 4 * gibi,
		CgroupPidsMax:     256,
		WorkdirMaxBytes:   10 * gibi,
		MaxOutputBytes:    256 * mebi,
	}
}

// Limits settles r over the defaults. The error names the field.
func (r Resources) Limits() (Limits, error) {
	l := DefaultLimits()
	for _, f := range []struct {
		name string
		from *int64
		to   *int64
	}{
		{"max_processes", r.MaxProcesses, &l.MaxProcesses},
		{"max_open_files", r.MaxOpenFiles, &l.MaxOpenFiles},
		{"max_file_size_bytes", r.MaxFileSizeBytes, &l.MaxFileSizeBytes},
		{"cpu_seconds", r.CPUSeconds, &l.CPUSeconds},
		{"memory_bytes", r.MemoryBytes, &l.MemoryBytes},
		{"cgroup_memory_bytes", r.CgroupMemoryBytes, &l.CgroupMemoryBytes},
		{"cgroup_pids_max", r.CgroupPidsMax, &l.CgroupPidsMax},
		{"workdir_max_bytes", r.WorkdirMaxBytes, &l.WorkdirMaxBytes},
		{"max_output_bytes", r.MaxOutputBytes, &l.MaxOutputBytes},
	} {
		if f.from == nil {
			continue
		}
		if *f.from <= 0 {
			return Limits{}, fmt.Errorf("resources.%s: %d must be more than zero; leave it out for the default", f.name, *f.from)
		}
		*f.to = *f.from
	}
	return l, nil
}

// pidsMax is the ceiling of a command's group: both limits count tasks, so the
// smaller one holds.
func (l Limits) pidsMax() int64 { return min(l.MaxProcesses, l.CgroupPidsMax) }
