package wit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	bytecodealliance "go.bytecodealliance.org/wit"
)

func typeDef(t *testing.T, res *bytecodealliance.Resolve, name string) *bytecodealliance.TypeDef {
	t.Helper()
	for _, d := range res.TypeDefs {
		if _, alias := d.Kind.(*bytecodealliance.TypeDef); d.Name != nil && *d.Name == name && !alias {
			return d
		}
	}
	require.Fail(t, "the WIT has no such type", name)
	return nil
}

// function finds a function by "package/interface@version#function".
func function(t *testing.T, res *bytecodealliance.Resolve, name string) *bytecodealliance.Function {
	t.Helper()
	for _, i := range res.Interfaces {
		id := i.Package.Name
		id.Extension = *i.Name
		for _, f := range i.Functions.All() {
			if id.String()+"#"+f.Name == name {
				return f
			}
		}
	}
	require.Fail(t, "the WIT has no such function", name)
	return nil
}

func signature(f *bytecodealliance.Function) string {
	params := make([]string, len(f.Params))
	for i, p := range f.Params {
		params[i] = p.Name + ":" + typeName(p.Type)
	}
	s := "func(" + strings.Join(params, ",") + ")"
	for _, r := range f.Results {
		s += "->" + typeName(r.Type)
	}
	return s
}

// typeName is the name of a type, or its shape if it has none.
func typeName(t bytecodealliance.Type) string {
	if d, ok := t.(*bytecodealliance.TypeDef); ok {
		if d.Name != nil {
			return *d.Name
		}
		return shape(d.Kind)
	}
	return t.(interface {
		WIT(bytecodealliance.Node, string) string
	}).WIT(nil, "")
}

func shape(k bytecodealliance.TypeDefKind) string {
	switch k := k.(type) {
	case *bytecodealliance.Enum:
		names := make([]string, len(k.Cases))
		for i, c := range k.Cases {
			names[i] = c.Name
		}
		return "enum{" + strings.Join(names, ",") + "}"
	case *bytecodealliance.Record:
		fields := make([]string, len(k.Fields))
		for i, f := range k.Fields {
			fields[i] = f.Name + ":" + typeName(f.Type)
		}
		return "record{" + strings.Join(fields, ",") + "}"
	case *bytecodealliance.Tuple:
		types := make([]string, len(k.Types))
		for i, t := range k.Types {
			types[i] = typeName(t)
		}
		return "tuple<" + strings.Join(types, ",") + ">"
	case *bytecodealliance.Option:
		return "option<" + typeName(k.Type) + ">"
	case *bytecodealliance.List:
		return "list<" + typeName(k.Type) + ">"
	case *bytecodealliance.Result:
		return "result<" + typeName(k.OK) + "," + typeName(k.Err) + ">"
	}
	return fmt.Sprintf("%T", k)
}
