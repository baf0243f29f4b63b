import { defineStage } from '../stage.ts';

/** The host assembles the context within the model's window; the default gives it the whole of it. */
export const stage = defineStage({ name: 'host-context', stage: 'assemble', run: () => ({}) });
