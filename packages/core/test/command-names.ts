import { commandsOfWorkspace, nameCommands } from '../src/command-names.ts';

// Before each file of tests: a worker runs many, and one can have been an application.
nameCommands(commandsOfWorkspace);
