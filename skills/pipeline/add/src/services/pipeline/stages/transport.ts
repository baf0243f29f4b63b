import { defineStage } from '../stage.ts';

/** The host's proxy asks the models, and the next one where a model gives no answer; the default adds nothing. */
export const stage = defineStage({ name: 'host-proxy', stage: 'transport', run: () => ({}) });
