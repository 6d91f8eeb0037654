package provenance

// The headers that carry a provenance between capsules.
const (
	HeaderOrigin = "x-murmur-task-origin"
	HeaderTrust  = "x-murmur-task-trust"
)

// FromWire derives the provenance of a task that arrived with headers. Only
// peer and completion are honoured there; any other origin, or none, is an
// event: nobody outside can speak as the user, the schedule or the system. The
// argument has the shape of http.Header's Get.
func FromWire(get func(header string) string) Provenance {
	origin, err := ParseOrigin(get(HeaderOrigin))
	if err != nil || (origin != Peer && origin != Completion) {
		return Derive(Event, nil)
	}
	trust, err := ParseTrust(get(HeaderTrust))
	if err != nil {
		return Derive(origin, nil)
	}
	return Derive(origin, &trust)
}

// Outbound is the provenance of what a task sends to another capsule: a peer's,
// as trusted as the sending task. A nil sender, no task at all, is untrusted.
func Outbound(sender *Provenance) Provenance { return Caused(Peer, sender) }

// Headers hands the two headers of p to set, which has the shape of
// http.Header's Set.
func (p Provenance) Headers(set func(header, value string)) {
	set(HeaderOrigin, p.origin.String())
	set(HeaderTrust, p.trust.String())
}
