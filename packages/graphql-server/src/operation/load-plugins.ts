import type { GraphQLSchema } from 'graphql';
import type { InterfacePlugin, OperationSteps, PluginHooks } from './plugin-hooks.ts';

/** Plugins, with the code that runs them. */
export interface LoadedPlugins {
  /**
   * @param steps without hooks
   * @returns null if no plugin has a hook that operations call
   * @throws {Error} if a plugin needs a hook that is never called, or replaces the schema
   */
  createHooks(schema: GraphQLSchema, steps: OperationSteps, limits: { operationMs: number }): PluginHooks | null;
}

/**
 * Loads Yoga for the plugins. It takes 20 MB of memory, so a process without plugins does not load it.
 *
 * @returns null if there are no plugins
 */
export async function loadPlugins(plugins: readonly InterfacePlugin[]): Promise<LoadedPlugins | null> {
  if (plugins.length === 0) return null;
  const { createPluginHooks } = await import('./plugin-hooks.ts');
  return { createHooks: (schema, steps, limits) => createPluginHooks(schema, plugins, steps, limits) };
}
