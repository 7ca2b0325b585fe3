const secondsPerDay = 86_400;
const daysPerEra = 146_097;
/** From 0001-01-01 to 9999-12-31, which is what RFC 3339 and Go's JSON can say. */
const firstSecond = -62_135_596_800;
const lastSecond = 253_402_300_799;

const digits = (value: number, length: number): string => String(value).padStart(length, '0');

const floorDivide = (value: number, by: number): number => Math.floor(value / by);

/** Year, month and day of a day counted from 1970-01-01 in the proleptic Gregorian calendar, by eras of 400 years that begin in March. */
const civilDate = (day: number): string => {
  const shifted = day + 719_468;
  const era = floorDivide(shifted, daysPerEra);
  const dayOfEra = shifted - era * daysPerEra;
  const leaps = floorDivide(dayOfEra, 1_460) - floorDivide(dayOfEra, 36_524) + floorDivide(dayOfEra, daysPerEra - 1);
  const yearOfEra = floorDivide(dayOfEra - leaps, 365);
  const leapDays = floorDivide(yearOfEra, 4) - floorDivide(yearOfEra, 100);
  const dayOfYear = dayOfEra - (365 * yearOfEra + leapDays);
  const shiftedMonth = floorDivide(5 * dayOfYear + 2, 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${digits(year, 4)}-${digits(month, 2)}-${digits(dayOfYear - floorDivide(153 * shiftedMonth + 2, 5) + 1, 2)}`;
};

/** A time of the wall clock as microseconds since the epoch, what is finer cut off. Undefined for what is no time between the years 1 and 9999. */
export const microsecondsOf = (seconds: number, nanos: number): number | undefined => {
  if (!Number.isInteger(seconds) || seconds < firstSecond || seconds > lastSecond) return undefined;
  if (!Number.isInteger(nanos) || nanos < 0 || nanos > 999_999_999) return undefined;
  return seconds * 1_000_000 + floorDivide(nanos, 1_000);
};

/** Reads RFC 3339 into microseconds since the epoch, what is finer cut off; undefined for what is no time. */
export const parseMicroTime = (text: string): number | undefined => {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return undefined;
  const seconds = floorDivide(ms, 1_000);
  const [, finer = ''] = /\.\d{3}(\d{1,3})/.exec(text) ?? [];
  return seconds * 1_000_000 + ((ms - seconds * 1_000) * 1_000 + Number(finer.padEnd(3, '0')));
};

/**
 * `metav1.MicroTime` as JSON has it (k8s.io/apimachinery `pkg/apis/meta/v1/micro_time.go`): RFC 3339 in UTC with six digits after the
 * point, what is finer cut off. `seconds` since the epoch, `nanos` on top. Undefined for what is no time between the years 1 and 9999.
 */
export const formatMicroTime = (seconds: number, nanos: number): string | undefined => {
  if (microsecondsOf(seconds, nanos) === undefined) return undefined;
  const day = floorDivide(seconds, secondsPerDay);
  const second = seconds - day * secondsPerDay;
  const hours = digits(floorDivide(second, 3_600), 2);
  const minutes = digits(floorDivide(second % 3_600, 60), 2);
  return `${civilDate(day)}T${hours}:${minutes}:${digits(second % 60, 2)}.${digits(floorDivide(nanos, 1_000), 6)}Z`;
};
