package runtime_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/murmur-capsule/murmur/"

// requestParsers are the packages that read what guests and manifests ask for.
var requestParsers = []string{"capsule", "host/toolrun", "runtime/internal/shell"}

// A surface is what a scan of a tree saw.
type surface struct {
	offences  []string
	packages  []string // the public ones
	parsers   []string
	functions int
	wit       int

	fset    *token.FileSet
	sources map[string][]*ast.File // by directory, tests left out
}

// scanSurface reads every source, WIT and schema file of the tree.
func scanSurface(t *testing.T, tree fs.FS) *surface {
	t.Helper()
	s := &surface{fset: token.NewFileSet(), sources: map[string][]*ast.File{}}
	require.NoError(t, fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := path.Base(name); base == "node_modules" || base == "testdata" || name != "." && base[0] == '.' {
				return fs.SkipDir
			}
			return nil
		}
		return s.read(tree, name)
	}))
	for dir, files := range s.sources {
		s.scanPackage(dir, files)
	}
	slices.Sort(s.offences)
	return s
}

func (s *surface) read(tree fs.FS, name string) error {
	isGo := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
	isWIT, isJSON := strings.HasSuffix(name, ".wit"), strings.HasSuffix(name, ".json")
	if !isGo && !isWIT && !isJSON {
		return nil
	}
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return err
	}
	switch {
	case isWIT:
		s.wit++
		s.scanText(name, witComment.ReplaceAllString(string(text), ""))
	case isJSON:
		if strings.Contains(string(text), `"properties"`) {
			s.scanText(name, string(text))
		}
	default:
		file, err := parser.ParseFile(s.fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		s.sources[path.Dir(name)] = append(s.sources[path.Dir(name)], file)
	}
	return nil
}

var (
	witComment = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
	workIDText = regexp.MustCompile(`(?i)work[-_]?ids?\b|\bwrk`)
)

func (s *surface) scanText(where, text string) {
	if found := workIDText.FindString(text); found != "" {
		s.offences = append(s.offences, fmt.Sprintf("%s: names a work id: %s", where, found))
	}
}

func (s *surface) scanPackage(dir string, files []*ast.File) {
	internal := slices.Contains(strings.Split(dir, "/"), "internal")
	if !internal && files[0].Name.Name != "main" {
		s.packages = append(s.packages, dir)
		for _, file := range files {
			s.scanFile(dir, file)
		}
	}
	if slices.Contains(requestParsers, dir) {
		s.parsers = append(s.parsers, dir)
		for _, file := range files {
			s.scanLiterals(file)
		}
	}
}

// scanLiterals looks at every string and tag of a package that parses requests.
func (s *surface) scanLiterals(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		if _, isImport := n.(*ast.ImportSpec); isImport {
			return false
		}
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			s.scanText(s.fset.Position(lit.Pos()).String(), lit.Value)
		}
		return true
	})
}

// scanFile looks at everything of a public package that can be called.
func (s *surface) scanFile(dir string, file *ast.File) {
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			// A method of a type that is not exported can be called only through
			// an interface that is, and those are looked at by themselves.
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
				s.scanFunc(dir, file, receiver(d)+d.Name.Name, d.Type)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				s.scanSpec(dir, file, spec)
			}
		}
	}
}

func (s *surface) scanSpec(dir string, file *ast.File, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for i, value := range spec.Values {
			if f, ok := value.(*ast.FuncLit); ok && i < len(spec.Names) && spec.Names[i].IsExported() {
				s.scanFunc(dir, file, spec.Names[i].Name, f.Type)
			}
		}
	case *ast.TypeSpec:
		methods, ok := spec.Type.(*ast.InterfaceType)
		if !ok || !spec.Name.IsExported() {
			return
		}
		for _, m := range methods.Methods.List {
			if f, ok := m.Type.(*ast.FuncType); ok {
				s.scanFunc(dir, file, spec.Name.Name+m.Names[0].Name, f)
			}
		}
	}
}

// receiver is the name of a method's type.
func receiver(d *ast.FuncDecl) (name string) {
	if d.Recv == nil {
		return ""
	}
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return true
	})
	return name
}

func (s *surface) scanFunc(dir string, file *ast.File, name string, f *ast.FuncType) {
	s.functions++
	for _, param := range f.Params.List {
		why := s.typeTakes(dir, file, param.Type, map[string]bool{})
		for _, id := range param.Names {
			if why == "" && nameTakes(name, id.Name, param.Type) {
				why = id.Name
			}
		}
		if why != "" {
			s.offences = append(s.offences, fmt.Sprintf("%s: %s takes a work id: %s", s.fset.Position(param.Pos()), name, why))
		}
	}
}

// nameTakes says whether a parameter's name is that of a work id. One that is
// called id, or work, is one if it is text and the function is about works.
func nameTakes(function, name string, typ ast.Expr) bool {
	if _, isCallback := typ.(*ast.FuncType); isCallback {
		return false
	}
	plain := strings.ToLower(strings.ReplaceAll(name, "_", ""))
	id, isIdent := typ.(*ast.Ident)
	isText := isIdent && id.Name == "string"
	aboutWork := strings.Contains(strings.ToLower(function), "work") && !strings.Contains(strings.ToLower(function), "workdir")
	return strings.HasPrefix(plain, "workid") || strings.HasPrefix(plain, "wrk") ||
		isText && (plain == "work" || aboutWork && plain == "id")
}

// typeTakes names what of a parameter's type is a work id, if anything is. What
// a callback gets is given out, not taken.
func (s *surface) typeTakes(dir string, file *ast.File, typ ast.Expr, seen map[string]bool) (why string) {
	ast.Inspect(typ, func(n ast.Node) bool {
		if why != "" {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncType, *ast.InterfaceType:
			return false
		case *ast.StructType:
			why = s.fieldsTake(dir, file, n, seen)
			return false
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok {
				why = s.namedTakes(importDir(file, id.Name), n.Sel.Name, seen)
			}
			return false
		case *ast.Ident:
			why = s.namedTakes(dir, n.Name, seen)
		}
		return true
	})
	return why
}

func (s *surface) fieldsTake(dir string, file *ast.File, st *ast.StructType, seen map[string]bool) string {
	for _, field := range st.Fields.List {
		if field.Tag != nil && workIDText.MatchString(field.Tag.Value) {
			return field.Tag.Value
		}
		exported := len(field.Names) == 0
		for _, name := range field.Names {
			exported = exported || name.IsExported()
			if name.IsExported() && nameTakes("", name.Name, field.Type) {
				return name.Name
			}
		}
		if exported {
			if why := s.typeTakes(dir, file, field.Type, seen); why != "" {
				return why
			}
		}
	}
	return ""
}

// namedTakes looks at a named type and at what it stands for.
func (s *surface) namedTakes(dir, name string, seen map[string]bool) string {
	if strings.EqualFold(strings.ReplaceAll(name, "_", ""), "workid") {
		return name
	}
	key := dir + "." + name
	if seen[key] {
		return ""
	}
	seen[key] = true
	for _, file := range s.sources[dir] {
		for _, decl := range file.Decls {
			d, ok := decl.(*ast.GenDecl)
			if !ok || d.Tok != token.TYPE {
				continue
			}
			for _, spec := range d.Specs {
				if spec := spec.(*ast.TypeSpec); spec.Name.Name == name {
					return s.typeTakes(dir, file, spec.Type, seen)
				}
			}
		}
	}
	return ""
}

// importDir is the directory, in the tree, of the package that a file calls
// name.
func importDir(file *ast.File, name string) string {
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		local := path.Base(imported)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if inside, ok := strings.CutPrefix(imported, module); ok && local == name {
			return inside
		}
	}
	return ""
}
