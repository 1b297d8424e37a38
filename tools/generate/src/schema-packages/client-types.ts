import { runCodegen } from '../codegen.ts';
import { banner } from '../generated.ts';

export interface ServedVersion {
  readonly date: string;
  readonly sdl: string;
  readonly errorCodes: readonly string[];
}

/** The types of each version, as a client uses them: date → module. */
export async function clientTypes(versions: readonly ServedVersion[]): Promise<Map<string, string>> {
  const texts = await runCodegen(import.meta.dirname, {
    generates: Object.fromEntries(versions.map(({ date, sdl }) => [date, { schema: sdl, plugins: ['typescript'] }])),
    config: {
      // Keep generated types in the order of the SDL.
      sort: false,
      // Output enums are open: a `switch` over one needs a default, while a misspelled value is still an error.
      enumsAsTypes: true,
      futureProofEnums: true,
      // A selected field is always present. An input field can be omitted.
      avoidOptionals: { field: true },
      inputMaybeValue: 'T | null | undefined',
      skipTypename: true,
      strictScalars: true,
      scalars: { ID: 'string', Date: 'string', DateTime: 'string', Long: 'number' },
    },
  });
  return new Map(
    versions.map(({ date, errorCodes }) => [date, `${banner}\n${texts.get(date) ?? ''}\n${errorCodeType(errorCodes)}`]),
  );
}

function errorCodeType(codes: readonly string[]): string {
  const members = [...codes, '%future added value'].map((code) => `  | '${code}'`).join('\n');
  return `\n/** The \`extensions.code\` of an error. New codes can appear. */\nexport type ErrorCode =\n${members};\n`;
}
