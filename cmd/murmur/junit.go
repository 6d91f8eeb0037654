package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"strings"
)

// The parts of JUnit's XML that build servers read.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string      `xml:"classname,attr"`
		Name    string      `xml:"name,attr"`
		Time    string      `xml:"time,attr"`
		Failure *junitFault `xml:"failure"`
		Error   *junitFault `xml:"error"`
	}
	junitFault struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes what came of the suites to path.
func writeJUnit(path string, suites []suite) error {
	var all junitSuites
	for _, s := range suites {
		all.Suites = append(all.Suites, junitOf(s))
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err == nil {
		err = os.WriteFile(path, []byte(xml.Header+string(text)+"\n"), 0o644)
	}
	if err != nil {
		return fmt.Errorf("cannot write the JUnit file: %w", err)
	}
	return nil
}

func junitOf(s suite) junitSuite {
	out := junitSuite{Name: s.name, Tests: len(s.reports), Failures: s.failures()}
	var total float64
	for _, r := range s.reports {
		c := junitCase{Class: s.name, Name: r.Name, Time: seconds(r.Duration.Seconds())}
		if len(r.Wrong) > 0 {
			c.Failure = &junitFault{r.Wrong[0], strings.Join(r.Wrong, "\n")}
		}
		total += r.Duration.Seconds()
		out.Cases = append(out.Cases, c)
	}
	if s.err != nil {
		out.Errors++
		out.Tests++
		out.Cases = append(out.Cases, junitCase{
			Class: s.name, Name: "run", Time: seconds(0), Error: &junitFault{oneLine(s.err.Error()), s.err.Error()},
		})
	}
	out.Time = seconds(total)
	return out
}

func seconds(s float64) string { return fmt.Sprintf("%.3f", s) }
