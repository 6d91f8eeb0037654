package supervisor

// point names an instant at which a test may end the process.
type point string

// The instants, in the order in which a command passes them.
const (
	pointLaunching    point = "launching"     // before the journal line
	pointLaunched     point = "launched"      // journal line written, nothing forked
	pointForked       point = "forked"        // child runs, not in the journal yet
	pointSpawned      point = "spawned"       // child in the journal, runtime not told
	pointDemoting     point = "demoting"      // demotion asked for
	pointRecorded     point = "recorded"      // record on disk, runtime not told
	pointEnded        point = "ended"         // ended, not in the journal yet
	pointExitRecorded point = "exit_recorded" // exit record on disk, runtime not told
)

// testOnlyFail, if a test has set it, is called at each point.
var testOnlyFail func(point)

func fail(p point) {
	if testOnlyFail != nil {
		testOnlyFail(p)
	}
}
