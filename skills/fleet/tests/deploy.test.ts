import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const DEPLOY = join(import.meta.dirname, '../../../deploy');
const read = (path: string): unknown => parse(readFileSync(join(DEPLOY, path), 'utf8'));

const Probe = z.strictObject({
  exec: z.strictObject({ command: z.array(z.string()) }),
  periodSeconds: z.int(),
  timeoutSeconds: z.int(),
  failureThreshold: z.int(),
});
const Meta = z.strictObject({ labels: z.record(z.string(), z.string()) });
/** The part of the published schema of a Deployment that is used, with no other key. */
const Deployment = z.strictObject({
  apiVersion: z.literal('apps/v1'),
  kind: z.literal('Deployment'),
  metadata: Meta.extend({ name: z.string() }),
  spec: z.strictObject({
    replicas: z.literal(1),
    strategy: z.strictObject({ type: z.literal('Recreate') }),
    selector: z.strictObject({ matchLabels: z.record(z.string(), z.string()) }),
    template: z.strictObject({
      metadata: Meta,
      spec: z.strictObject({
        automountServiceAccountToken: z.literal(false),
        enableServiceLinks: z.literal(false),
        hostUsers: z.literal(false),
        terminationGracePeriodSeconds: z.int().min(15),
        securityContext: z.strictObject({
          runAsNonRoot: z.literal(true),
          runAsUser: z.literal(1000),
          runAsGroup: z.literal(1000),
          fsGroup: z.literal(1000),
          fsGroupChangePolicy: z.literal('OnRootMismatch'),
        }),
        containers: z.tuple([
          z.strictObject({
            name: z.string(),
            image: z.string(),
            imagePullPolicy: z.literal('IfNotPresent'),
            args: z.tuple([z.literal('start')]),
            securityContext: z.strictObject({
              allowPrivilegeEscalation: z.literal(false),
              readOnlyRootFilesystem: z.literal(true),
              capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
              seccompProfile: z.strictObject({ type: z.literal('Unconfined') }),
              procMount: z.literal('Unmasked'),
            }),
            startupProbe: Probe,
            livenessProbe: Probe,
            resources: z.strictObject({
              requests: z.strictObject({ memory: z.string(), cpu: z.string() }),
              limits: z.strictObject({ memory: z.string() }),
            }),
            volumeMounts: z.array(z.strictObject({ name: z.string(), mountPath: z.string() })),
          }),
        ]),
        volumes: z.array(
          z.strictObject({
            name: z.string(),
            persistentVolumeClaim: z.strictObject({ claimName: z.string() }).optional(),
            emptyDir: z.strictObject({ sizeLimit: z.string() }).optional(),
          }),
        ),
      }),
    }),
  }),
});

test('the pod of an instance has no rights, sees no socket of the node, and never runs twice', () => {
  const { metadata, spec } = Deployment.parse(read('kubernetes/instance.yaml'));
  expect(spec.selector.matchLabels).toEqual(spec.template.metadata.labels);
  const { containers, volumes } = spec.template.spec;
  const named = volumes.map(({ name }) => name);
  expect(containers[0].volumeMounts.map(({ name }) => name)).toEqual(named);
  const claim = z
    .object({
      metadata: z.object({ name: z.literal(metadata.name) }),
      spec: z.object({ accessModes: z.tuple([z.literal('ReadWriteOncePod')]) }),
    })
    .safeParse(read('kubernetes/volume.yaml'));
  expect(claim.error).toBeUndefined();
  expect(volumes[0]?.persistentVolumeClaim?.claimName).toBe(metadata.name);
});

test('nobody dials in, and the kustomization names every manifest', () => {
  expect(read('kubernetes/network-policy.yaml')).toMatchObject({
    spec: { policyTypes: ['Ingress'], ingress: [] },
  });
  expect(read('kubernetes/kustomization.yaml')).toMatchObject({
    resources: ['volume.yaml', 'instance.yaml', 'network-policy.yaml'],
  });
});
