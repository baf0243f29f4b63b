// The engine as a library: its commands, and what is of use without a project.
export * from './commands.ts';
export { mergeText } from './merge/merge-text.ts';
