/** Runs before the main module of an app, and gives it a list of plugins, as if its code had the list. */
import { pluginLists } from './plugin-lists.ts';

const { BENCH_PLUGINS: name = '', BENCH_INTERFACE: file = '' } = process.env;
const plugins = new Map<string, readonly object[]>(Object.entries(pluginLists)).get(name);
if (plugins === undefined) throw new Error(`There is no list of plugins "${name}".`);
const { lenderInterface }: { lenderInterface: object } = await import(file);
Object.assign(lenderInterface, { plugins: () => plugins });
