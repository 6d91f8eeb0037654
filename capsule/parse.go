package capsule

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds on a manifest, far above what one needs. The YAML parser's time grows
// with the square of the lines and faster with the depth.
const (
	maxFileSize = 64 << 10
	maxLines    = 2000
	maxDepth    = 100
)

// Parse reads a manifest. The name stands for the file in errors, each of which
// is an [*Error]. The guest's file is not looked at.
func Parse(data []byte, name string) (*Manifest, error) {
	m, _, err := parse(data, name)
	return m, err
}

// parse also tells where each field of the file is.
func parse(data []byte, name string) (*Manifest, map[string]*token.Position, error) {
	m := Default()
	d := &decoder{positions: map[string]*token.Position{}}
	err := d.decode(data, manifestFields(&m))
	if err == nil {
		err = d.locate(m.Validate())
	}
	if err != nil {
		err.File = name
		return nil, nil, err
	}
	return &m, d.positions, nil
}

var wordPattern = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// A decoder fills a manifest from a syntax tree. It walks the tree itself, for
// the sake of the errors: the library's decoder skips what it cannot place and
// describes types as Go sees them.
type decoder struct {
	// positions holds where each field of the file has its value.
	positions map[string]*token.Position
}

func (d *decoder) decode(data []byte, fields []field) *Error {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := checkBounds(data); err != nil {
		return err
	}
	file, err := parseYAML(data)
	if err != nil {
		return syntaxError(err)
	}
	root, fail := document(file)
	if fail != nil {
		return fail
	}
	return d.mapping("", root, fields)
}

func checkBounds(data []byte) *Error {
	switch {
	case len(data) > maxFileSize:
		return wrong("", "a manifest has at most %d bytes, and this file has more", maxFileSize)
	case !utf8.Valid(data):
		return wrong("", "a manifest is UTF-8 text, and this file is not")
	case bytes.Count(data, []byte("\n")) > maxLines:
		return wrong("", "a manifest has at most %d lines, and this file has more", maxLines)
	case bracketDepth(data) > maxDepth:
		return wrong("", "the brackets of a manifest are nested at most %d deep, and in this file they are deeper", maxDepth)
	}
	return nil
}

// bracketDepth is how deep brackets are nested at most, those in texts
// included.
func bracketDepth(data []byte) int {
	depth, deepest := 0, 0
	for _, c := range data {
		switch c {
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth = max(0, depth-1)
		}
	}
	return deepest
}

// parseYAML turns a panic into an error: the parser has had some on malformed
// input, and a manifest is such input until it is read.
func parseYAML(data []byte) (file *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("the file is no YAML that can be read")
		}
	}()
	return parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
}

func syntaxError(err error) *Error {
	e := &Error{What: "cannot read the YAML: " + syntaxText(err.Error())}
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) {
		e.What = "cannot read the YAML: " + syntaxText(syntax.Message)
		if syntax.Token != nil {
			e.at(syntax.Token.Position)
		}
	}
	return e
}

// syntaxText is the parser's message, or a plainer one about what people get
// wrong.
func syntaxText(message string) string {
	if strings.Contains(message, "found character '\t'") {
		return "a tab at the beginning of a line: YAML is indented with spaces"
	}
	return firstLine(message)
}

// firstLine returns the first line of an error of the parser's, which may quote
// the file.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, line)
}

// document returns the top of the one document in the file.
func document(file *ast.File) (ast.Node, *Error) {
	var root ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType {
			continue
		}
		if root != nil {
			return nil, wrong("", "a manifest is one YAML document, and this is a second one").atNode(doc.Body)
		}
		root = doc.Body
	}
	if root == nil {
		return nil, wrong("", "the file is empty")
	}
	return root, nil
}

// mapping decodes the entries of n, each by its field.
func (d *decoder) mapping(path string, n ast.Node, fields []field) *Error {
	entries, err := mappingEntries(path, n)
	if err != nil {
		return err
	}
	for _, e := range entries {
		f := find(fields, e.key)
		if f == nil {
			return unknownKey(join(path, e.key), e.key, fields).atNode(e.node.Key)
		}
		if err := d.entry(join(path, f.key), e.node, f); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) entry(path string, n *ast.MappingValueNode, f *field) *Error {
	if f.sub != nil {
		d.note(path, n.Key)
		return d.mapping(path, n.Value, f.sub)
	}
	d.note(path, n.Value)
	return f.set(d, path, n.Value)
}

type mappingEntry struct {
	key  string
	node *ast.MappingValueNode
}

// mappingEntries returns the entries of a mapping: their keys are texts, and
// each comes once.
func mappingEntries(path string, n ast.Node) ([]mappingEntry, *Error) {
	var nodes []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		nodes = n.Values
	case *ast.MappingValueNode:
		nodes = []*ast.MappingValueNode{n}
	default:
		return nil, wrong(path, "keys and values, got %s", describe(n)).atNode(n)
	}
	seen := make(map[string]*token.Position, len(nodes))
	entries := make([]mappingEntry, 0, len(nodes))
	for _, node := range nodes {
		key, err := keyText(path, node.Key)
		if err != nil {
			return nil, err
		}
		if first, ok := seen[key]; ok {
			return nil, wrong(join(path, key), "the key is already in line %d", first.Line).atNode(node.Key)
		}
		seen[key] = position(node.Key)
		entries = append(entries, mappingEntry{key, node})
	}
	return entries, nil
}

func keyText(path string, key ast.MapKeyNode) (string, *Error) {
	if s, ok := key.(*ast.StringNode); ok {
		return s.Value, nil
	}
	return "", wrong(path, "a key that is a plain text, got %s", describe(key)).atNode(key)
}

// note remembers where a field is.
func (d *decoder) note(path string, n ast.Node) { d.positions[path] = position(n) }

// position returns where a node begins.
func position(n ast.Node) *token.Position {
	switch v := n.(type) {
	case *ast.MappingNode:
		// The token of a block mapping is the colon after its first key.
		if !v.IsFlowStyle && len(v.Values) > 0 {
			return position(v.Values[0])
		}
	case *ast.MappingValueNode:
		return position(v.Key)
	}
	if t := n.GetToken(); t != nil {
		return t.Position
	}
	return nil
}

// locate adds to err the position of its field or, if the file does not have
// it, of the section that should.
func (d *decoder) locate(err error) *Error {
	e := (*Error)(nil)
	if !errors.As(err, &e) {
		return nil
	}
	for path := e.Field; path != ""; path = parent(path) {
		if p := d.positions[path]; p != nil {
			e.at(p)
			return e
		}
	}
	e.Line, e.Column = 1, 1
	return e
}

func (e *Error) at(p *token.Position) {
	if p != nil {
		e.Line, e.Column = p.Line, p.Column
	}
}

func (e *Error) atNode(n ast.Node) *Error {
	e.at(position(n))
	return e
}

// join adds a key to a path. A key that is no plain word is quoted, so that a
// path never breaks the line.
func join(path, key string) string {
	if !wordPattern.MatchString(key) {
		key = quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func parent(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}

// describe says what a node is, for the end of an error.
func describe(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return "the text " + quote(n.Value)
	case *ast.LiteralNode:
		return "the text " + quote(n.Value.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "the number " + n.GetToken().Value
	case *ast.BoolNode:
		return fmt.Sprint(n.Value)
	case *ast.NullNode:
		return "nothing"
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "keys and values"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "an anchor or alias, which a manifest cannot have"
	case *ast.TagNode:
		return "a tag, which a manifest cannot have"
	}
	return "something else"
}
