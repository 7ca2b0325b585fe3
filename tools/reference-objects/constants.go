package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// stringConstant is a string constant of a package.
type stringConstant struct {
	name, value string
	// of is the name of its type; empty for a plain string.
	of string
	// at is the position of its declaration.
	at token.Pos
}

// moduleDir returns the directory of a module's source, and downloads the module if needed.
func moduleDir(module, version string) (string, error) {
	out, err := exec.Command("go", "mod", "download", "-json", module+"@"+version).Output()
	if err != nil {
		return "", fmt.Errorf("go mod download %s@%s: %w\n%s", module, version, err, out)
	}
	var downloaded struct{ Dir string }
	err = json.Unmarshal(out, &downloaded)
	return downloaded.Dir, err
}

// parse parses the source files of a package, without its tests.
func parse(set *token.FileSet, dir string) ([]*ast.File, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no such package", dir)
	}
	var parsed []*ast.File
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		syntax, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, syntax)
	}
	return parsed, nil
}

// readConstants reads the exported string constants of a package from its source, in the order of their declaration. It needs none of the
// package's imports: constants that are computed from those of another package are omitted.
func readConstants(dir, importPath string) ([]stringConstant, error) {
	set := token.NewFileSet()
	parsed, err := parse(set, dir)
	if err != nil {
		return nil, err
	}
	config := types.Config{Importer: importer.Default(), Error: func(error) {}, IgnoreFuncBodies: true, FakeImportC: true}
	checked, _ := config.Check(importPath, set, parsed, nil)
	constants := ofForeignTypes(parsed)
	for _, name := range checked.Scope().Names() {
		declared, ok := checked.Scope().Lookup(name).(*types.Const)
		if !ok || !declared.Exported() || declared.Val().Kind() != constant.String {
			continue
		}
		of := ""
		if named, ok := declared.Type().(*types.Named); ok {
			of = named.Obj().Name()
		}
		constants = append(constants, stringConstant{name, constant.StringVal(declared.Val()), of, declared.Pos()})
	}
	slices.SortFunc(constants, func(a, b stringConstant) int { return cmp.Compare(a.at, b.at) })
	return constants, nil
}

// ofForeignTypes returns the exported constants whose type is declared in another package, if their value is a string literal. The type checker
// does not know these types, because it does not load imports.
func ofForeignTypes(files []*ast.File) []stringConstant {
	var constants []stringConstant
	for _, file := range files {
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 || !spec.Names[0].IsExported() {
				return true
			}
			literal, isLiteral := spec.Values[0].(*ast.BasicLit)
			if _, isForeign := spec.Type.(*ast.SelectorExpr); !isForeign || !isLiteral || literal.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(literal.Value); err == nil {
				constants = append(constants, stringConstant{name: spec.Names[0].Name, value: text, at: spec.Pos()})
			}
			return true
		})
	}
	return constants
}

// readWords returns the string literals without white space in the source of a package, sorted. Comma-separated literals are split into their
// items.
func readWords(dir string) ([]string, error) {
	parsed, err := parse(token.NewFileSet(), dir)
	if err != nil {
		return nil, err
	}
	words := map[string]bool{}
	for _, file := range parsed {
		imported := map[*ast.BasicLit]bool{}
		for _, each := range file.Imports {
			imported[each.Path] = true
		}
		ast.Inspect(file, func(node ast.Node) bool {
			literal, ok := node.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING || imported[literal] {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil || strings.ContainsAny(text, " \t\n%{") {
				return true
			}
			for word := range strings.SplitSeq(text, ",") {
				if len(word) > 1 {
					words[word] = true
				}
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(words)), nil
}
