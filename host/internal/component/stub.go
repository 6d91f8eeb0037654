package component

type instantiation struct{}

func (*stepModule) run(*instantiation) error          { return nil }
func (stepCoreBag) run(*instantiation) error          { return nil }
func (*stepComponent) run(*instantiation) error       { return nil }
func (*stepLift) run(*instantiation) error            { return nil }
func (*stepCoreInstantiate) run(*instantiation) error { return nil }
func (*stepResource) run(*instantiation) error        { return nil }
func (*stepImport) run(*instantiation) error          { return nil }
func (*stepExport) run(*instantiation) error          { return nil }
func (*stepInstantiate) run(*instantiation) error     { return nil }
func (*stepBag) run(*instantiation) error             { return nil }
func (*stepAlias) run(*instantiation) error           { return nil }
func (*stepOuter) run(*instantiation) error           { return nil }
