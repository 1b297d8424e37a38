/** What a person types to run the commands that messages and help name. */
export interface CommandNames {
  /** The operator CLI, without arguments. */
  operator: string;
  migrate: string;
  /** Runs everything on the machine of a developer. */
  dev: string;
}

export const commandsOfWorkspace: CommandNames = {
  operator: 'deedwire-operator',
  migrate: 'deedwire-operator database migrate',
  dev: 'pnpm dev',
};

let names = commandsOfWorkspace;

/** Of this process, for good. A program calls it before anything else. Without a call, they are those of the apps of a workspace. */
export function nameCommands(own: CommandNames): void {
  names = own;
}

/** As `nameCommands` has set them: read them where a text is made, not when a module is loaded. */
export const commandNames = (): CommandNames => names;

export const operatorCommand = (): string => names.operator;
