import { Command } from '../command.ts';
import { epoch, onLive } from '../live.ts';
import { get, may, moment, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';
import { Channels } from './channels.ts';
import { withCode } from './with-code.ts';

const t = wordsOf('health');

type Finding = {
  readonly area: string;
  readonly ok: boolean;
  readonly message: string;
  readonly advice: string | null;
};
type Doctor = {
  readonly report: { readonly findings: readonly Finding[] } | null;
  readonly problem: string | null;
};
type Backups = {
  readonly state: {
    readonly failure: { readonly at: number; readonly reason: string } | null;
    readonly drilledAt: number | null;
    readonly drillFailure: { readonly at: number; readonly reason: string } | null;
  };
  readonly kept: readonly {
    readonly name: string;
    readonly createdAt: number;
    readonly reason: string;
    readonly isLocked: boolean;
    readonly sizeBytes: number;
  }[];
};

export function HealthView(): VNode {
  return html`<h1>${t('heading')}</h1><div class="row"><${Command} line="status" label=${t('status')} /><${Command} line="restart" label=${t('restart')} /></div>
    <${Channels} /><${Findings} /><${BackupList} />${may('admin') ? html`<${Log} />` : null}`;
}

function Findings(): VNode {
  const [doctor, setDoctor] = useState<Doctor | null>(null);
  const look = () => {
    setDoctor(null);
    void get<Doctor>('health/doctor').then(setDoctor, ({ message }) =>
      setDoctor({ report: null, problem: message }),
    );
  };
  useEffect(look, [epoch.value]);
  const findings = doctor?.report?.findings ?? [];
  const [bad, good] = [findings.filter(({ ok }) => !ok), findings.filter(({ ok }) => ok)];
  return html`<section><div class="row"><h2>${t('doctor')}</h2><button type="button" class="push" onClick=${look}>${t('again')}</button></div>
    ${doctor === null ? html`<p class="hint" role="status">${t('looking')}</p>` : null}
    ${doctor?.problem ? html`<p class="problem" role="alert">${doctor.problem}</p>` : null}
    ${doctor !== null && bad.length === 0 && good.length > 0 ? html`<p class="good">${t('all-well')}</p>` : null}
    ${bad.map((one) => html`<${One} finding=${one} />`)}
    ${good.length === 0 ? null : html`<details><summary>${t('in-order', { count: good.length })}</summary>${good.map((one) => html`<${One} finding=${one} />`)}</details>`}
  </section>`;
}

function One({ finding: { area, ok, message, advice } }: { readonly finding: Finding }): VNode {
  return html`<article class="card"><div class="row"><span class=${ok ? 'good' : 'bad'} aria-label=${t(ok ? 'ok' : 'not-ok')}>${ok ? '✓' : '✗'}</span>
    <strong lang="en">${withCode(message)}</strong><span class="tag push">${area}</span></div>${advice === null ? null : html`<p class="hint" lang="en">${withCode(advice)}</p>`}</article>`;
}

function BackupList(): VNode {
  const [backups, setBackups] = useState<Backups | null>(null);
  useEffect(() => void get<Backups>('health/backups').then(setBackups), [epoch.value]);
  if (backups === null) return html`<section></section>`;
  const { kept, state } = backups;
  return html`<section><h2>${t('backups')}</h2>
    ${state.failure === null ? null : html`<p class="problem">${moment(state.failure.at)}: ${state.failure.reason}</p>`}
    ${state.drillFailure === null ? null : html`<p class="problem">${t('drill-failed')} ${moment(state.drillFailure.at)}: ${state.drillFailure.reason}</p>`}
    ${state.drilledAt === null ? null : html`<p class="hint">${t('drilled', { at: moment(state.drilledAt) })}</p>`}
    ${
      kept.length === 0
        ? html`<p class="hint">${t('no-backups')}</p>`
        : html`<div class="scroll" tabindex="0"><table><tbody>${kept.map(
            (one) =>
              html`<tr><td>${moment(one.createdAt)}</td><td>${t(`for-${one.reason}`)}</td><td>${one.isLocked ? t('locked') : ''}</td><td class="number">${(one.sizeBytes / 1e6).toFixed(1)} MB</td></tr>`,
          )}</tbody></table></div>`
    }
    <p><${Command} line="backup" label=${t('backup')} /></p></section>`;
}

type Line = {
  readonly level: number;
  readonly time: number;
  readonly msg: string;
  readonly [key: string]: unknown;
};
const LINES = 300;

function Log(): VNode {
  const [lines, setLines] = useState<readonly string[]>([]);
  const [least, setLeast] = useState(30);
  useEffect(() => void get<readonly string[]>('health/logs').then(setLines), [epoch.value]);
  useEffect(
    () =>
      onLive((event) => {
        if (event.kind === 'log') setLines((before) => [...before, event.line].slice(-LINES));
      }),
    [],
  );
  const shown = lines
    .flatMap(parsed)
    .filter(({ level }) => level >= least)
    .slice(-LINES)
    .reverse();
  return html`<section><div class="row"><h2>${t('log')}</h2>
    <label class="push">${t('least')} <select value=${least} onChange=${(event: Event) => setLeast(Number((event.target as HTMLSelectElement).value))}>
      <option value="30">${t('info')}</option><option value="40">${t('warn')}</option><option value="50">${t('error')}</option></select></label></div>
    ${
      shown.length === 0
        ? html`<p class="hint">${t('no-lines')}</p>`
        : html`<div class="log-lines scroll" tabindex="0">${shown.map(
            ({
              level,
              time,
              msg,
              ...data
            }) => html`<div class=${level >= 50 ? 'bad' : level >= 40 ? 'warn' : ''}>
      <time>${new Date(time).toLocaleTimeString()}</time> ${msg} <span class="hint">${factsOf(data)}</span></div>`,
          )}</div>`
    }</section>`;
}

function parsed(line: string): readonly Line[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return []; // A line that was cut.
  }
}

function factsOf(data: Readonly<Record<string, unknown>>): string {
  return Object.entries(data)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}
