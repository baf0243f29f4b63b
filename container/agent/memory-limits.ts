/** The most that is shown of one CLAUDE.md, in bytes. */
export const MAX_MEMORY_BYTES = 32_768;
/** The most that is shown of the agent's own notes together, in bytes. */
export const MAX_NOTES_BYTES = 16_384;
