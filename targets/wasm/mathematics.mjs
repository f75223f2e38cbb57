// Functions that no instruction computes, as code in WebAssembly imports them.

function round(x) {
  const whole = Math.trunc(x);
  return Math.abs(x - whole) >= 0.5 ? whole + Math.sign(x) : whole;
}

// exp(-x^2) times a series of terms of one sign.
function erf(x) {
  if (!(Math.abs(x) < 6)) return Math.sign(x);
  let term = x, sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return ((2 * Math.exp(-x * x)) / Math.sqrt(Math.PI)) * sum;
}

// 1 - erf(x), where that is small as a continued fraction.
function erfc(x) {
  if (!(x > 1)) return 1 - erf(x);
  let rest = 0;
  for (let n = Math.ceil(30 + 200 / (x * x)); n > 0; n--) rest = n / 2 / (x + rest);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + rest);
}

function mathematics() {
  const made = { round, erf, erfc, exp2: (x) => 2 ** x, fmod: (x, y) => x % y };
  const known =
    "exp expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh cbrt pow atan2";
  for (const name of known.split(" ")) made[name] = Math[name];
  for (const [name, f] of Object.entries(made)) made[`${name}f`] = f;
  return made;
}
