import { isBuiltin } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import type TS from '@typescript/typescript6';
import { failAt, InputError } from '../../input-error.ts';
import { packageOf } from '../../source/project.ts';
import { withoutEnding } from '../declaration-file.ts';
import { augmentationsIn } from './augmentations.ts';
import { ts } from './compiler.ts';
import { describeDeclaration, type Described } from './describe-declaration.ts';
import { inputDeclarations } from './input-declarations.ts';

/** A declaration, and how the rest of the program uses it. */
export interface Reported extends Described {
  /** Whether callers cannot use its value, as with `export type { Client }`. */
  readonly typeOnly?: boolean;
  /** What the imported names in it stand for, if they are those of a package or renamed. */
  readonly references?: Readonly<Record<string, string>>;
  readonly input?: boolean;
}

const options: TS.CompilerOptions = {
  // Resolves relative imports with and without extensions, as they are in declarations of different settings.
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  target: ts.ScriptTarget.ES2022,
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  resolveJsonModule: true,
};

/** The parsed files of the standard library, by their paths: parsing them takes most of the time of a report. */
const libraryFiles = new Map<string, TS.SourceFile>();

/**
 * Reports the declarations of the entry points of a package, by their declaration files.
 *
 * @param files absolute paths
 * @param folder the folder around the files, which names of declarations that are not exported are relative to
 */
export function reportsOf(files: readonly string[], folder: string) {
  const packageFolder = packageOf(folder)?.folder ?? folder;
  const isOwn = (path: string): boolean =>
    !relative(packageFolder, path).startsWith('..') && !relative(folder, path).includes('node_modules');
  const programWith = (types: string[]): TS.Program => {
    const host = ts.createCompilerHost(options);
    // Packages with types are found from here.
    host.getCurrentDirectory = () => packageFolder;
    const libraries = host.getDefaultLibLocation?.();
    const read = host.getSourceFile.bind(host);
    host.getSourceFile = (path, ...rest) => {
      if (dirname(path) !== libraries) return read(path, ...rest);
      const library = libraryFiles.get(path) ?? read(path, ...rest);
      if (library !== undefined) libraryFiles.set(path, library);
      return library;
    };
    return ts.createProgram(files, { ...options, types }, host);
  };
  const first = programWith([]);
  const exportsBuiltin = first
    .getSourceFiles()
    .some((source) => isOwn(source.fileName) && source.statements.some(isOfBuiltin));
  const program = exportsBuiltin ? programWith(['node']) : first;
  for (const source of program.getSourceFiles())
    if (isOwn(source.fileName)) checkImports(program.getTypeChecker(), source);
  return new Map(files.map((file) => [file, reportOf({ program, entryPoints: new Set(files), folder, isOwn }, file)]));
}

/** Whether a statement exports a module of Node, whose declarations are in `@types/node`. */
function isOfBuiltin(statement: TS.Statement): boolean {
  if (!ts.isExportDeclaration(statement) || statement.moduleSpecifier === undefined) return false;
  return ts.isStringLiteral(statement.moduleSpecifier) && isBuiltin(statement.moduleSpecifier.text);
}

interface Context {
  readonly program: TS.Program;
  readonly entryPoints: ReadonlySet<string>;
  readonly folder: string;
  /** Whether a file belongs to the package. */
  readonly isOwn: (path: string) => boolean;
}

/** An import that does not resolve would leave declarations out of the report. A package matters only if it is exported again. */
function checkImports(checker: TS.TypeChecker, source: TS.SourceFile): void {
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) continue;
    const { moduleSpecifier } = statement;
    if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) continue;
    const isRelative = moduleSpecifier.text.startsWith('.');
    if (!isRelative && ts.isImportDeclaration(statement)) continue;
    // A file that is imported for its global declarations is no module.
    if (ts.isImportDeclaration(statement) && statement.importClause === undefined) continue;
    if (checker.getSymbolAtLocation(moduleSpecifier) !== undefined) continue;
    const line = source.getLineAndCharacterOfPosition(moduleSpecifier.getStart(source)).line + 1;
    const missing = isBuiltin(moduleSpecifier.text)
      ? 'is described by @types/node, which is not installed'
      : 'is not installed';
    const remedy = isRelative ? 'does not exist' : missing;
    throw new InputError(source.fileName, line, `refers to ${JSON.stringify(moduleSpecifier.text)}, which ${remedy}`);
  }
}

/** The exported declarations of an entry point, and the declarations that they refer to. */
function reportOf(context: Context, file: string) {
  const { program, entryPoints, folder, isOwn } = context;
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  if (source === undefined || module === undefined)
    failAt(file, 'exports nothing, so it is not the entry point of a package');
  /** Of a declaration of the package: with its file, because two files can declare the same name. */
  const internalName = (symbol: TS.Symbol): string | null => {
    const path = topLevelFileOf(symbol);
    return path === null || !isOwn(path) ? null : `${withoutEnding(relative(folder, path))}.${symbol.name}`;
  };
  const exported = exportsOf(checker, module);
  const declarationsOf = new Map<string, readonly TS.Declaration[]>(augmentationsIn(loadedWith(context, source)));
  const names = new Map<TS.Symbol, string>();
  for (const { name, symbol, declarations } of exported) {
    names.set(symbol, name);
    declarationsOf.set(name, declarations);
  }
  // Appended to during the loop: declarations that are not exported but that others refer to. Those of another entry point
  // are in its report.
  for (const declarations of declarationsOf.values()) {
    for (const { symbol } of referencesIn(checker, declarations)) {
      const name = internalName(symbol);
      if (name === null || names.has(symbol) || entryPoints.has(topLevelFileOf(symbol) ?? '')) continue;
      names.set(symbol, name);
      declarationsOf.set(name, symbol.declarations ?? []);
    }
  }
  const inputs = inputDeclarations(declarationsOf, (identifier) => {
    const symbol = checker.getSymbolAtLocation(identifier);
    return symbol === undefined ? undefined : names.get(resolved(checker, symbol));
  });
  const typesOnly = new Set(exported.filter(({ typeOnly }) => typeOnly).map(({ name }) => name));

  function described(name: string, declarations: readonly TS.Declaration[]): Reported {
    const references = importsIn(checker, declarations, (symbol) => names.get(symbol) ?? internalName(symbol));
    return {
      ...describeDeclaration(declarations),
      ...(typesOnly.has(name) ? { typeOnly: true } : {}),
      ...(Object.keys(references).length === 0 ? {} : { references }),
      // The tool does not know who creates values of the types of other modules.
      ...(inputs.has(name) || /^(?:global|".*")\./.test(name) ? { input: true } : {}),
    };
  }

  return {
    $comment: 'Generated by `contract-check api-report`. Do not edit.',
    /** 2 if the report contains `typeOnly`, `references` and augmentations. Older reports have no format. */
    format: 2,
    declarations: Object.fromEntries(
      [...declarationsOf]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, declarations]) => [name, described(name, declarations)]),
    ),
  };
}

/** The exports of a module. The value of `export =` has this name, and the members of its namespace have their own. */
function exportsOf(checker: TS.TypeChecker, module: TS.Symbol) {
  const assignment = module.exports?.get(ts.InternalSymbolName.ExportEquals);
  const values = assignment === undefined ? valuesOf(checker, module) : null;
  const exported = checker.getExportsOfModule(module).map((each) => {
    const symbol = resolved(checker, each);
    const typeOnly = (symbol.flags & ts.SymbolFlags.Value) !== 0 && values?.has(each.name) === false;
    return { name: each.name, symbol, declarations: symbol.declarations ?? [], typeOnly };
  });
  if (assignment === undefined) return exported;
  // Not the static members of a class, which are members of its declaration.
  const members = exported.filter((each) => each.declarations.some((declaration) => !ts.isClassElement(declaration)));
  const symbol = resolved(checker, assignment);
  const declarations = (symbol.declarations ?? []).filter((declaration) => !ts.isModuleDeclaration(declaration));
  return declarations.length === 0 ? members : [...members, { name: 'export=', symbol, declarations, typeOnly: false }];
}

/** The names of the exports that callers can use as values. `export type *` and `export type { Client }` are none. */
function valuesOf(checker: TS.TypeChecker, start: TS.Symbol): Set<string> {
  const values = new Set<string>();
  const modules = new Set([start]);
  for (const module of modules) {
    const own = module.exports;
    for (const { name } of checker.getPropertiesOfType(checker.getTypeOfSymbol(module)))
      if (
        own === undefined ||
        own.has(ts.escapeLeadingUnderscores(name)) ||
        own.has(ts.InternalSymbolName.ExportEquals)
      )
        values.add(name);
    for (const star of own?.get(ts.InternalSymbolName.ExportStar)?.declarations ?? []) {
      if (!ts.isExportDeclaration(star) || star.isTypeOnly || star.moduleSpecifier === undefined) continue;
      const target = checker.getSymbolAtLocation(star.moduleSpecifier);
      if (target !== undefined) modules.add(target);
    }
  }
  return values;
}

/** The files of the package that a program loads with a file, without those of other packages. */
function loadedWith({ program, isOwn }: Context, start: TS.SourceFile): Set<TS.SourceFile> {
  const found = new Set([start]);
  for (const source of found) {
    const { importedFiles, referencedFiles } = ts.preProcessFile(source.text, true, true);
    const paths = [
      ...importedFiles.map(
        (each) =>
          ts.resolveModuleName(each.fileName, source.fileName, options, ts.sys).resolvedModule?.resolvedFileName,
      ),
      ...referencedFiles.map((each) => resolve(source.fileName, '..', each.fileName)),
    ];
    for (const path of paths) {
      const loaded = path !== undefined && isOwn(path) ? program.getSourceFile(path) : undefined;
      if (loaded !== undefined) found.add(loaded);
    }
  }
  return found;
}

function resolved(checker: TS.TypeChecker, symbol: TS.Symbol): TS.Symbol {
  return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
}

/** The module that declares a symbol at its top level. Null for parameters, members and symbols without a declaration. */
function topLevelFileOf({ declarations = [] }: TS.Symbol): string | null {
  const [declaration] = declarations;
  if (declaration === undefined) return null;
  const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  const module = statement.parent;
  // What a file without imports and exports declares is global.
  return module !== undefined && ts.isSourceFile(module) && ts.isExternalModule(module) ? module.fileName : null;
}

/** The symbols that declarations name. `local`: the symbol in the file, which is an alias if the file imports it. */
function referencesIn(checker: TS.TypeChecker, declarations: readonly TS.Declaration[]) {
  const found: { text: string; local: TS.Symbol; symbol: TS.Symbol }[] = [];
  function visit(node: TS.Node): void {
    if (ts.isIdentifier(node)) {
      const local = checker.getSymbolAtLocation(node);
      if (local !== undefined) found.push({ text: node.text, local, symbol: resolved(checker, local) });
    }
    ts.forEachChild(node, visit);
  }
  for (const declaration of declarations) visit(declaration);
  return found;
}

/** What the imported names in declarations stand for, if the text does not show it. */
function importsIn(
  checker: TS.TypeChecker,
  declarations: readonly TS.Declaration[],
  nameOf: (symbol: TS.Symbol) => string | null,
): Record<string, string> {
  const found = referencesIn(checker, declarations).flatMap(({ text, local, symbol }) => {
    const own = nameOf(symbol);
    if (own !== null) return own.slice(own.lastIndexOf('.') + 1) === text ? [] : [[text, own] as const];
    const origin = originOf(local);
    return origin === null ? [] : [[text, origin] as const];
  });
  return Object.fromEntries(found.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The name in the package that a symbol is imported from. Null for other symbols. */
function originOf({ declarations = [] }: TS.Symbol): string | null {
  const [declaration] = declarations;
  if (declaration === undefined) return null;
  const statement = ts.findAncestor(
    declaration,
    (node) => ts.isImportDeclaration(node) || ts.isImportEqualsDeclaration(node),
  );
  if (statement === undefined) return null;
  if (ts.isImportEqualsDeclaration(statement)) return statement.moduleReference.getText();
  if (!ts.isImportDeclaration(statement)) return null;
  const name = ts.isImportSpecifier(declaration) ? (declaration.propertyName ?? declaration.name).text : null;
  const whole = ts.isNamespaceImport(declaration) ? '*' : 'default';
  return `${name ?? whole} of ${statement.moduleSpecifier.getText().slice(1, -1)}`;
}
