import type { PrinterColumn } from '../kind.ts';
import { asList, asMap } from '../object.ts';
import { sinceText } from './age.ts';
import { type Cell, type Column, column, isScalar } from './column.ts';

type Step = (value: unknown) => unknown;

const member =
  (name: string): Step =>
  (value) =>
    asMap(value)[name];

const itemWhere =
  (field: string, wanted: string): Step =>
  (value) =>
    asList(value).find((item) => asMap(item)[field] === wanted);

const steps = /\.([\w-]+)|\[\?\(@\.(\w+)=="([^"]*)"\)\]/g;

const stepsOf = (jsonPath: string): readonly Step[] =>
  [...jsonPath.matchAll(steps)].map(([, name, field, wanted = '']) =>
    field === undefined ? member(name ?? '') : itemWhere(field, wanted),
  );

/** `cellForJSONValue` in k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor. */
const cellOf = ({ type }: PrinterColumn, value: unknown, now: number): Cell => {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'string':
      return isScalar(value) ? String(value) : JSON.stringify(value);
    case 'date':
      if (typeof value !== 'string') return null;
      return Number.isNaN(Date.parse(value)) ? '<invalid>' : sinceText(value, now);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
  }
};

export const customColumn = (definition: PrinterColumn): Column => {
  const { name, type, jsonPath, priority = 0 } = definition;
  const path = stepsOf(jsonPath);
  const read = (object: unknown): unknown => path.reduce((value, step) => step(value), object);
  return { ...column(name, (object, now) => cellOf(definition, read(object), now), type), priority };
};

/** What a CustomResourceDefinition that names no columns has. */
export const customAge: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
