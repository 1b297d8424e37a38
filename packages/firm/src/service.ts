// What the commands of this repository read of a folder with a service.

export { firm as service } from './index.ts';

export const commands = async () => (await import('./commands.ts')).firmCommands;

export const seed = async () => (await import('./seed.ts')).firmSeed;
