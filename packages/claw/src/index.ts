// The engine as a library: its commands, and what is of use without a project.
export { mergeText } from '@patchclaw/merge';
export * from './verbs.ts';
