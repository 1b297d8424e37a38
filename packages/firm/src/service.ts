// What the commands of this repository read of a folder with a service, and the apps of every service of the deployed one.

export { firm as service } from './index.ts';

export const commands = async () => (await import('./commands.ts')).firmCommands;

export const seed = async () => (await import('./seed.ts')).firmSeed;
