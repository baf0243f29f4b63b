import { z } from 'zod';
import { defineService } from '../host/contracts/service.ts';
import type { ServiceCaller } from '../host/contracts/service-call.ts';
import { type RouteReply, RouteRequest } from '../lib/pipeline/calls.ts';
import { counted } from '../lib/pipeline/count-words.ts';
import { PipelineSettings } from '../lib/pipeline/settings.ts';
import type { KeptReaction } from '../store/store.ts';
import { openMeanings, typeOf } from './pipeline/by-meaning.ts';
import { ratingOf } from './pipeline/emoji.ts';
import { MIGRATIONS, openLedger } from './pipeline/ledger.ts';
import { drawsOf } from './pipeline/random-draws.ts';
import { reportOf } from './pipeline/report.ts';
import { requestOf } from './pipeline/request.ts';
import { askedShape } from './pipeline/shape.ts';
import {
  type Decision,
  discoverStages,
  type Evidence,
  shareOf,
  type TaskProfile,
  type TaskType,
} from './pipeline/stage.ts';

const PipelineRequest = z.discriminatedUnion('kind', [
  RouteRequest,
  z.object({ kind: z.literal('rate'), value: z.union([z.literal(1), z.literal(-1)]) }),
  z.object({ kind: z.literal('report') }),
]);

/** Votes of the owner by command and by reaction are one. */
const OWNER = 'owner';

/**
 * Runs the stages that come before and after the host's own work on a turn: it says what kind of work a turn is and
 * which model is asked first, and learns from what the turn cost and what people said of its answer.
 */
export const service = defineService({
  name: 'pipeline',
  settings: PipelineSettings,
  async start({ settings, store, openDatabase, embed, now, log }) {
    const { PIPELINE_ANSWER_USD: worthUsd, PIPELINE_RATERS: raters } = settings;
    const isLearning = settings.PIPELINE_LEARNING === 'on';
    const stages = await discoverStages();
    const model = settings.PIPELINE_EMBEDDINGS;
    const meanings =
      model === undefined
        ? null
        : openMeanings({
            model,
            embed,
            now,
            onFailed: (message) => log.warn('kinds of work are told by words alone', { message }),
          });
    const ledger = openLedger(openDatabase(MIGRATIONS), store, now, log);

    function evidenceOf(type: TaskType): readonly Evidence[] {
      const score = stages.of('score', type);
      const turns = ledger.of(type);
      return stages.of(
        'learn',
        type,
      )(turns.map((trajectory) => ({ trajectory, reward: shareOf(score(trajectory), null) })));
    }

    function toolsBefore(folder: string): readonly string[] {
      const [last] = store.turnRuns.newest(1, folder);
      if (last === undefined) return [];
      const steps = store.turnRuns.stepsOf(last.seq);
      return steps.filter(({ kind }) => kind !== 'model').map(({ name }) => name);
    }

    function decide(request: RouteRequest, profile: TaskProfile, turn: string): Decision {
      const { models, hasPictures, isChosen } = request;
      const [top] = models;
      if (isChosen && top !== undefined) {
        return { first: top.name, why: 'It was chosen by `/model`.' };
      }
      const evidence = evidenceOf(profile.type);
      // A turn that is run again draws the same.
      const random = drawsOf(turn);
      const choice = { profile, hasPictures, models, evidence, worthUsd, random };
      return stages.of('route', profile.type)(choice);
    }

    async function route(request: RouteRequest, caller: ServiceCaller): Promise<RouteReply> {
      const { models, prompt } = request;
      const work = requestOf(prompt, request, toolsBefore(caller.folder));
      const [byRules, meaning] = await Promise.all([
        stages.profileOf(work),
        meanings?.of(work.text, caller.folder) ?? null,
      ]);
      const profile = { ...byRules, type: typeOf(byRules.type, meaning) };
      const assemble = stages.of('assemble', profile.type);
      const transport = stages.of('transport', profile.type);
      let inOrder = models;
      if (isLearning && caller.turn !== null) {
        ledger.settle();
        const { first, why } = decide(request, profile, caller.turn);
        const { jid, turn: id } = caller;
        const shape = askedShape(work.text);
        ledger.decided({ id, jid, isTask: request.isTask, ...profile, why, shape });
        inOrder = models.toSorted(
          (one, other) => Number(other.name === first) - Number(one.name === first),
        );
      }
      return inOrder.map((model) => ({
        name: model.name,
        ...assemble(profile, model),
        ...transport(profile, model),
      }));
    }

    function rate(value: 1 | -1, { jid }: ServiceCaller): string {
      if (!isLearning) return 'Learning is off: `PIPELINE_LEARNING=on` in .env switches it on.';
      ledger.settle();
      const answer = ledger.lastAnswer(jid);
      if (answer === null) return 'There is no answer here yet that could be rated.';
      ledger.signal(answer.id, OWNER, { feedbackType: 'command', value });
      const { model, type } = answer;
      return `Noted: a ${value === 1 ? 'good' : 'bad'} ${type} answer of \`${model ?? 'an unknown model'}\`.`;
    }

    function report({ jid }: ServiceCaller): string {
      ledger.settle();
      const [ratings, last] = [ledger.ratings(), ledger.last(jid)];
      return reportOf({ isLearning, worthUsd, ratings, evidenceOf, last });
    }

    function reacted({ turnId, jid, sender, isOwner, emoji }: KeptReaction): void {
      if (!isLearning || turnId === null || (raters === 'owner' && !isOwner)) return;
      const value = emoji === null ? null : ratingOf(emoji);
      const voter = isOwner ? OWNER : `${jid} ${sender}`;
      ledger.signal(turnId, voter, value === null ? null : { feedbackType: 'reaction', value });
      ledger.see();
    }

    const { seen } = ledger;
    if (isLearning && seen !== null) {
      const missed = store.reactions.since(seen + 1);
      if (missed.length > 0) log.info('reactions that came meanwhile', { count: missed.length });
      for (const reaction of missed) reacted(reaction);
    }
    ledger.see();

    return {
      stop: () => {
        if (isLearning) ledger.see();
      },
      status: () =>
        isLearning
          ? `learned from ${counted(ledger.ratings(), 'rating')}`
          : 'learning is off, the order of the pool holds',
      onReaction: reacted,
      onCall(given, caller) {
        const request = PipelineRequest.parse(given);
        if (request.kind === 'route') return route(request, caller);
        return request.kind === 'rate' ? rate(request.value, caller) : report(caller);
      },
    };
  },
});
