import type TS from '@typescript/typescript6';
import { ts } from './compiler.ts';

/** What the files of a module add to the global scope (`global.Window`) and to other modules (`"express".Request`). */
export function augmentationsIn(sources: Iterable<TS.SourceFile>): Map<string, TS.Declaration[]> {
  const found = new Map<string, TS.Declaration[]>();

  function add(scope: string, statements: readonly TS.Statement[]): void {
    for (const declaration of statements.flatMap(declarationsIn)) {
      const name = `${scope}.${nameOf(declaration)}`;
      found.set(name, [...(found.get(name) ?? []), declaration]);
    }
  }

  for (const source of sources) {
    const [scopes, others] = [source.statements.filter(isScope), source.statements.filter((each) => !isScope(each))];
    // The declarations of a file without imports and exports are global.
    if (!ts.isExternalModule(source)) add('global', others);
    for (const { name, body } of scopes)
      if (body !== undefined && ts.isModuleBlock(body))
        add(ts.isStringLiteral(name) ? JSON.stringify(name.text) : 'global', body.statements);
  }
  return found;
}

/** Whether a statement is `declare global` or `declare module "name"`. */
function isScope(statement: TS.Statement): statement is TS.ModuleDeclaration {
  return (
    ts.isModuleDeclaration(statement) &&
    (ts.isStringLiteral(statement.name) || (statement.flags & ts.NodeFlags.GlobalAugmentation) !== 0)
  );
}

function declarationsIn(statement: TS.Statement): readonly TS.Declaration[] {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations;
  if (ts.isImportDeclaration(statement)) return [];
  if (ts.isExportDeclaration(statement)) return isEmpty(statement) ? [] : [statement];
  return ts.isExportAssignment(statement) || isNamed(statement) ? [statement] : [];
}

/** `export {}` */
function isEmpty({ exportClause }: TS.ExportDeclaration): boolean {
  return exportClause !== undefined && ts.isNamedExports(exportClause) && exportClause.elements.length === 0;
}

function isNamed(statement: TS.Statement): statement is TS.DeclarationStatement {
  return 'name' in statement && statement.name !== undefined;
}

function nameOf(declaration: TS.Declaration): string {
  return ts.getNameOfDeclaration(declaration)?.getText() ?? 'export';
}
