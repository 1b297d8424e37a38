import type { Plugin } from 'graphql-yoga';

/**
 * Takes out what Yoga adds to the plugins that it gets and has no option for: parsers of other requests, checks with other errors,
 * processors of other results. Our plugins replace them, and each hook that a request passes costs time. Comes first.
 *
 * @param own the plugins that Yoga gets besides
 */
export function withoutDefaults(own: readonly object[]): Plugin {
  const isOwn = new Set(own);
  const plugin: Plugin = {
    onPluginInit({ plugins }) {
      const first = plugins.indexOf(plugin);
      for (const [index, other] of plugins.entries()) {
        // An option that is off leaves `false`.
        const buildsContext = index < first && 'onContextBuilding' in Object(other);
        if (other === plugin || isOwn.has(other) || buildsContext) continue;
        // In its place, because Envelop goes through the list meanwhile.
        plugins[index] = {};
      }
    },
  };
  return plugin;
}
