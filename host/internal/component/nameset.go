package component

import "fmt"

// nameSet holds the names of one list of imports or exports: they must differ
// strongly, and members of resources must belong to a resource named before
// them (Binary.md, import and export definitions).
type nameSet struct {
	word      string
	keys      map[string]string
	resources map[*resourceType]string
	known     map[string]bool
}

func newNameSet(word string) *nameSet {
	return &nameSet{word: word, keys: map[string]string{}, resources: map[*resourceType]string{}, known: map[string]bool{}}
}

// add checks a name with its type and takes it in.
func (n *nameSet) add(name externName, t externType) error {
	p, err := parseExternName(name)
	if err != nil {
		return err
	}
	if name.implements != nil && t.sort != sortInstance {
		return fmt.Errorf("only instances can have an `implements` (%s name `%s`)", n.word, name.name)
	}
	if err := n.checkMember(p, name.name, t); err != nil {
		return err
	}
	key := p.uniqueKey(name.name)
	if prev, ok := n.keys[key]; ok {
		return fmt.Errorf("%s name `%s` conflicts with previous name `%s`", n.word, name.name, prev)
	}
	n.keys[key] = name.name
	if r, ok := t.typ.(*resourceType); ok && t.sort == sortType && p.kind == namePlain {
		n.resources[r] = name.name
		n.known[name.name] = true
	}
	return nil
}

func (n *nameSet) checkMember(p parsedName, name string, t externType) error {
	if p.kind == namePlain || p.kind == nameInterface {
		return nil
	}
	f, ok := t.typ.(*funcType)
	if !ok || t.sort != sortFunc {
		return fmt.Errorf("item is not a func: `%s` names a member of a resource", name)
	}
	switch p.kind {
	case nameConstructor:
		return n.checkConstructor(p, f)
	case nameMethod:
		return n.checkMethod(p, f)
	}
	if !n.known[p.resource] {
		return fmt.Errorf("static resource name is not known in this context: `%s`", p.resource)
	}
	return nil
}

func (n *nameSet) checkConstructor(p parsedName, f *funcType) error {
	if f.result == nil {
		return fmt.Errorf("function should return one value")
	}
	own := f.result.def
	if own != nil && own.kind == kindResult && own.elem != nil {
		own = own.elem.def
	}
	if own == nil || own.kind != kindOwn {
		return fmt.Errorf("function should return `(own $T)` or `(result (own $T))`")
	}
	return n.checkResource(own.res, p.resource)
}

func (n *nameSet) checkMethod(p parsedName, f *funcType) error {
	if len(f.params) == 0 {
		return fmt.Errorf("function should have at least one argument")
	}
	if f.params[0].name != "self" {
		return fmt.Errorf("function should have a first argument called `self`")
	}
	self := f.params[0].typ.def
	if self == nil || self.kind != kindBorrow {
		return fmt.Errorf("function should take a first argument of `(borrow $T)`")
	}
	return n.checkResource(self.res, p.resource)
}

func (n *nameSet) checkResource(r *resourceType, want string) error {
	name, ok := n.resources[r]
	if !ok {
		return fmt.Errorf("resource used in function does not have a name in this context")
	}
	if name != want {
		return fmt.Errorf("function does not match expected resource name `%s`", name)
	}
	return nil
}
