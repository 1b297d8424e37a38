// Imports the generator dynamically, because the modules of the contracts can already fail when they are imported.
try {
  const { generate } = await import('./generate.ts');
  await generate();
} catch (error) {
  // The contract is wrong, not the generator: the message says what to change, and a stack trace would hide it.
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
