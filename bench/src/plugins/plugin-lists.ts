const hook = (): void => {};

/** Lists of plugins that an app of the bench has. */
export const pluginLists = {
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
