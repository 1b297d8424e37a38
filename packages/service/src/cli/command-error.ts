/** A command cannot do what it is for. Its message says why, and what to do. */
export class CommandError extends Error {}
