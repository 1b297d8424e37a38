/** Runs before the main module of an app, and gives it a list of plugins, as if its code had the list. */
const hook = (): void => {};

const pluginLists = {
  /** None of them has a hook that operations call. */
  'no-hooks': [{}, { onPluginInit: hook, onSchemaChange: hook }],
  /** The hooks do nothing. */
  'every-hook': [
    {
      onRequest: hook,
      onRequestParse: hook,
      onParams: hook,
      onEnveloped: hook,
      onParse: hook,
      onValidate: hook,
      onContextBuilding: hook,
      onExecute: () => ({ onExecuteDone: hook }),
      onExecutionResult: hook,
      onResultProcess: hook,
      onResponse: hook,
    },
  ],
} as const satisfies Record<string, readonly object[]>;

export type PluginListName = keyof typeof pluginLists;

const { BENCH_PLUGINS: name = '', BENCH_INTERFACE: file = '' } = process.env;
const plugins = new Map<string, readonly object[]>(Object.entries(pluginLists)).get(name);
if (plugins === undefined) throw new Error(`There is no list of plugins "${name}".`);
const { lenderInterface }: { lenderInterface: object } = await import(file);
Object.assign(lenderInterface, { plugins: () => plugins });
