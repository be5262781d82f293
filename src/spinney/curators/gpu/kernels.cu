// The loops over rows on a device. Each does for a row what the compiled loops of the CPU do, operation by operation.
//
// A slab holds the rows of a chunk column by column: column t of row i is slab[t * m + i]. Numbers are added up in whole
// 64-bit steps, so the order of threads is of no account. Compiled without fused multiply-adds: they would round once where
// the CPU rounds twice. Loops run over any number of threads and blocks, so that tests run them on a CPU with one.

typedef long long whole;
typedef unsigned long long word;
typedef unsigned char flag;

#define EACH_ROW(i) for (whole i = blockIdx.x * (whole)blockDim.x + threadIdx.x; i < m; i += blockDim.x * (whole)gridDim.x)
#define EACH_SLOT(i, n) for (int i = threadIdx.x; i < (n); i += blockDim.x)

// As in entrance.py: what becomes of a value.
enum { RAW, CLIPPED, STEPS, PLACES };
// As in questions/sums.py: what is summed.
enum { MEAN, CORE, MEDIAN, SECOND_MOMENT, BOX };

#define LARGEST 1.7976931348623157e308
#define FAR 1e100
#define RADIUS_STEPS 1048576.0
#define GRID_BITS 31
#define BIN_SHIFT 24
#define BINS 128
#define TILE 32
// Centers whose scores a thread keeps in registers, and rows that it looks at together.
#define CENTERS 8
#define PAIR 2
// Counters that a block keeps to itself, and rows whose steps a block adds up in 32 bits before it adds them to all others.
#define SLOTS 4096
#define SHORT_ROWS 2047

__device__ inline void add(whole *total, whole more) { if (more) atomicAdd((word *)total, (word)more); }

__device__ inline double larger(double a, double b) { return a > b ? a : b; }
__device__ inline double smaller(double a, double b) { return a < b ? a : b; }

// Rows as they are, one behind the other, become a slab, tile by tile; tiles of few columns are of more rows.
template <class T> __device__ inline void turn(const T *rows, whole m, whole d, double *slab) {
    __shared__ T tile[TILE * TILE];
    int wide = d < TILE ? (int)d : TILE, pitch = wide | 1, tall = TILE * TILE / pitch;  // an odd pitch: other banks
    whole across = (d + wide - 1) / wide, down = (m + tall - 1) / tall;
    for (whole at = blockIdx.x; at < across * down; at += gridDim.x) {
        whole row = at / across * tall, column = at % across * wide;
        EACH_SLOT(e, tall * wide) {
            int i = e / wide, t = e % wide;
            if (row + i < m && column + t < d) tile[i * pitch + t] = rows[(row + i) * d + column + t];
        }
        __syncthreads();
        EACH_SLOT(e, tall * wide) {
            int t = e / tall, i = e % tall;
            if (row + i < m && column + t < d) slab[(column + t) * m + row + i] = (double)tile[i * pitch + t];
        }
        __syncthreads();
    }
}

extern "C" __global__ void load_float32(const float *rows, whole m, whole d, double *slab) { turn(rows, m, d, slab); }

extern "C" __global__ void load_float64(const double *rows, whole m, whole d, double *slab) { turn(rows, m, d, slab); }

// The door, as `enter_slab`: fences are the rows of `fences_of`. Without a mask all rows count.
extern "C" __global__ void enter(double *slab, whole m, whole d, const double *fences, double radius, whole is_ball,
                                 whole nan_to_center, whole form, const flag *mask, whole has_mask, flag *alive) {
    const double *lower = fences, *upper = fences + d, *inverse = fences + 2 * d, *step = fences + 3 * d;
    const double *middle = fences + 4 * d, *last = fences + 5 * d, *center = fences + 6 * d;
    int clips = form == CLIPPED || (form != RAW && is_ball);
    EACH_ROW(i) {
        bool clean = true;
        for (whole t = 0; t < d; t++) clean &= fabs(slab[t * m + i]) <= LARGEST;
        alive[i] = (clean || nan_to_center) && (!has_mask || mask[i]);
        if (!clean) {
            for (whole t = 0; t < d; t++) slab[t * m + i] = center[t];
            continue;
        }
        double shrink = 1.0;
        if (form != RAW && is_ball) {
            double square = 0.0;
            for (whole t = 0; t < d; t++) {
                double gap = smaller(larger(slab[t * m + i], lower[t]), upper[t]) - middle[t];
                square += gap * gap;
            }
            shrink = smaller(1.0, radius / sqrt(larger(square, 1e-300)));
        }
        if (form == RAW) continue;
        for (whole t = 0; t < d; t++) {
            double value = slab[t * m + i];
            if (clips) value = smaller(larger(value, lower[t]), upper[t]);
            if (is_ball) value = middle[t] + (value - middle[t]) * shrink;
            if (form >= STEPS) {
                double place = (value - lower[t]) * inverse[t];
                if (form == PLACES) place = floor(place);
                place = place > 0.0 ? place : 0.0;
                place = place < last[t] ? place : last[t];
                value = form == PLACES ? lower[t] + (place + 0.5) * step[t] : place;
            }
            slab[t * m + i] = value;
        }
    }
}

// Rows as the search for nearest centers sees them, as `label_slab`: ends are a row of lower ones and one of upper ones.
extern "C" __global__ void scale(const double *slab, whole m, whole d, whole columns, const double *ends, const double *shift,
                                 double zoom, float *scaled) {
    EACH_ROW(i) {
        for (whole t = 0; t < d; t++)
            scaled[t * m + i] = (float)smaller(larger((slab[t * m + i] - shift[t]) * zoom, ends[t]), ends[d + t]);
        for (whole t = d; t < columns; t++) scaled[t * m + i] = 0.0f;
    }
}

// Nearest centers, as `label_slab`. Four columns of a center lie together: quads[group][center]; last comes a pair, if there is
// one, which is added first. Centers are filled up to a multiple of CENTERS with ones that have an infinite half.
extern "C" __global__ void label(const float *scaled, whole m, whole groups, whole has_pair, const float4 *quads,
                                 const float *halves, whole k, const flag *alive, int *labels) {
    whole pairs = (m + PAIR - 1) / PAIR;
    for (whole at = blockIdx.x * (whole)blockDim.x + threadIdx.x; at < pairs; at += blockDim.x * (whole)gridDim.x) {
        // Neighboring threads read neighboring rows.
        whole rows[PAIR];
        float best[PAIR];
        int found[PAIR];
        for (int r = 0; r < PAIR; r++) {
            rows[r] = at + r * pairs < m ? at + r * pairs : m - 1;
            best[r] = 1e38f * 1e38f;
            found[r] = 0;
        }
        for (whole first = 0; first < k; first += CENTERS) {
            float work[PAIR][CENTERS];
            for (int c = 0; c < CENTERS; c++)
                for (int r = 0; r < PAIR; r++) work[r][c] = halves[first + c];
            if (has_pair) {
                float x[PAIR][2];
                for (int r = 0; r < PAIR; r++)
                    for (int t = 0; t < 2; t++) x[r][t] = scaled[(4 * groups + t) * m + rows[r]];
                for (int c = 0; c < CENTERS; c++) {
                    float4 quad = quads[groups * k + first + c];
                    for (int r = 0; r < PAIR; r++) work[r][c] = work[r][c] - (x[r][0] * quad.x + x[r][1] * quad.y);
                }
            }
            for (whole g = 0; g < groups; g++) {
                float x[PAIR][4];
                for (int r = 0; r < PAIR; r++)
                    for (int t = 0; t < 4; t++) x[r][t] = scaled[(4 * g + t) * m + rows[r]];
                for (int c = 0; c < CENTERS; c++) {
                    float4 quad = quads[g * k + first + c];
                    for (int r = 0; r < PAIR; r++)
                        work[r][c] -= (x[r][0] * quad.x + x[r][1] * quad.y) + (x[r][2] * quad.z + x[r][3] * quad.w);
                }
            }
            for (int c = 0; c < CENTERS; c++)
                for (int r = 0; r < PAIR; r++)
                    if (work[r][c] < best[r]) {
                        best[r] = work[r][c];
                        found[r] = (int)(first + c);
                    }
        }
        for (int r = 0; r < PAIR; r++)
            if (at + r * pairs < m) labels[rows[r]] = alive[rows[r]] ? found[r] : -1;
    }
}

// Rows by center and ring, as `add_rings`: centers have a row per column; without columns and edges rows are counted by center.
extern "C" __global__ void rings(const double *slab, whole m, whole d, const int *labels, const double *centers, whole k,
                                 const double *edges, whole n_edges, const double *units, whole has_units, whole *counts) {
    __shared__ int slots[SLOTS];
    whole cells = k * (n_edges + 1);
    bool is_few = cells <= SLOTS;
    if (is_few) {
        EACH_SLOT(s, cells) slots[s] = 0;
        __syncthreads();
    }
    EACH_ROW(i) {
        int cell = labels[i];
        if (cell < 0) continue;
        double square = 0.0;
        for (whole t = 0; t < d; t++) {
            double gap = slab[t * m + i] - centers[t * k + cell];
            square += gap * gap * (has_units ? units[t] : 1.0);
        }
        whole low = 0, high = n_edges;
        while (low < high) {
            whole half = (low + high) >> 1;
            if (edges[half] < square) low = half + 1;
            else high = half;
        }
        whole slot = cell * (n_edges + 1) + low;
        if (is_few) atomicAdd(slots + slot, 1);
        else add(counts + slot, 1);
    }
    if (is_few) {
        __syncthreads();
        EACH_SLOT(s, cells) add(counts + s, slots[s]);
    }
}

// What rows add, as `add_offsets`: their clipped offsets in whole steps take the place of the rows, and their weights that of one
// more column.
extern "C" __global__ void offsets(double *slab, whole m, whole d, const int *labels, const double *anchors, whole k,
                                   const double *radii, const double *units, whole kernel) {
    EACH_ROW(i) {
        int cell = labels[i] < 0 ? 0 : labels[i];
        double square = 0.0, radius = radii[cell];
        for (whole t = 0; t < d; t++) {
            double value = (slab[t * m + i] - anchors[t * k + cell]) * units[t];
            if (kernel == SECOND_MOMENT) {
                double ratio = value / radius;
                value = smaller(ratio * ratio, FAR);
            }
            slab[t * m + i] = value;
            square += value * value;
        }
        if (kernel == SECOND_MOMENT) radius = 1.0;
        double length = sqrt(square), longest = length > radius && kernel != BOX ? length : radius;
        bool counts = labels[i] >= 0 && !(kernel == CORE && longest > radius);
        double factor = counts ? RADIUS_STEPS / longest : 0.0;
        slab[d * m + i] = !counts ? 0.0 : kernel == MEDIAN ? trunc(radius / longest * RADIUS_STEPS) : 1.0;
        square = 0.0;
        for (whole t = 0; t < d; t++) {
            double steps = slab[t * m + i] * factor;
            steps = steps > -RADIUS_STEPS ? steps : -RADIUS_STEPS;
            steps = trunc(steps < RADIUS_STEPS ? steps : RADIUS_STEPS);
            slab[t * m + i] = steps;
            if (kernel != BOX) square += steps * steps;
        }
        while (square > RADIUS_STEPS * RADIUS_STEPS) {
            square = 0.0;
            for (whole t = 0; t < d; t++) {
                double steps = slab[t * m + i];
                steps -= steps > 0.0 ? 1.0 : steps < 0.0 ? -1.0 : 0.0;
                slab[t * m + i] = steps;
                square += steps * steps;
            }
        }
    }
}

// Sums of the columns of a slab by label: blocks share out the rows, and blockIdx.y the columns. There are several totals, so that
// blocks seldom meet.
extern "C" __global__ void sum_columns(const double *slab, whole m, whole columns, const int *labels, whole k, whole copies,
                                       whole *totals) {
    __shared__ int slots[SLOTS];
    bool is_few = k <= SLOTS;
    for (whole t = blockIdx.y; t < columns; t += gridDim.y) {
        whole *total = totals + (blockIdx.x % copies * columns + t) * k;
        for (whole start = blockIdx.x * (whole)SHORT_ROWS; start < m; start += gridDim.x * (whole)SHORT_ROWS) {
            whole end = start + SHORT_ROWS < m ? start + SHORT_ROWS : m;
            if (is_few) {
                EACH_SLOT(s, k) slots[s] = 0;
                __syncthreads();
            }
            for (whole i = start + threadIdx.x; i < end; i += blockDim.x) {
                int cell = labels[i], more = cell < 0 ? 0 : (int)slab[t * m + i];
                if (more == 0) continue;
                if (is_few) atomicAdd(slots + cell, more);
                else add(total + cell, more);
            }
            if (is_few) {
                __syncthreads();
                EACH_SLOT(s, k) add(total + s, slots[s]);
                __syncthreads();
            }
        }
    }
}

// Rows in equal bins of each column, as `_walk_bins`, of places on the grid; blockIdx.y shares out the columns.
extern "C" __global__ void column_bins(const double *slab, whole m, whole d, const flag *alive, whole *counts) {
    __shared__ int slots[BINS];
    for (whole t = blockIdx.y; t < d; t += gridDim.y) {
        EACH_SLOT(s, BINS) slots[s] = 0;
        __syncthreads();
        EACH_ROW(i) if (alive[i]) atomicAdd(slots + ((whole)slab[t * m + i] >> BIN_SHIFT), 1);
        __syncthreads();
        EACH_SLOT(s, BINS) add(counts + t * BINS + s, slots[s]);
        __syncthreads();
    }
}

// Path codes along a route that halves, as `read_codes`, word by word.
extern "C" __global__ void read_bits(const double *slab, whole m, whole levels, const whole *axes, const word *shifts,
                                     word *codes) {
    EACH_ROW(i) {
        for (whole first = 0; first < levels; first += 64) {
            whole last = first + 64 < levels ? first + 64 : levels;
            word code = 0;
            for (whole level = first; level < last; level++) {
                word bit = ((word)(whole)slab[axes[level] * m + i] >> shifts[level]) & 1;
                code |= bit << (63 - (level - first));
            }
            codes[first / 64 * m + i] = code;
        }
    }
}

// Path codes along a route that cuts where its fractions say; order has the levels of the first column, then of the next.
extern "C" __global__ void cut(const double *slab, whole m, whole levels, const whole *axes, const whole *fractions,
                               const whole *order, word *codes) {
    EACH_ROW(i) {
        whole axis = -1, steps = 0, side = 0;
        for (whole w = 0; w < (levels + 63) / 64; w++) codes[w * m + i] = 0;
        for (whole at = 0; at < levels; at++) {
            whole level = order[at];
            if (axes[level] != axis) {
                axis = axes[level];
                steps = (whole)slab[axis * m + i];
                side = (whole)1 << GRID_BITS;
            }
            whole part = (side * fractions[level]) >> GRID_BITS;
            if (steps >= part) {
                steps -= part;
                side -= part;
                codes[level / 64 * m + i] |= (word)1 << (63 - level % 64);
            } else side = part;
        }
    }
}

// The index of the cell of one level that a code lies in, or -1, as `_look_up`.
__device__ inline whole look_up(const word *codes, whole m, whole i, const word *cells, whole words, const word *mask, whole shift,
                                const whole *table, whole size) {
    word mixed = 0;
    for (whole w = 0; w < words; w++) {
        mixed = (mixed ^ (codes[w * m + i] & mask[w])) * 0x9E3779B97F4A7C15ULL;
        mixed ^= mixed >> 29;
    }
    whole slot = (whole)((mixed * 0xBF58476D1CE4E5B9ULL) >> shift);
    for (whole place = table[slot]; place >= 0; place = table[slot]) {
        word differs = 0;
        for (whole w = 0; w < words; w++) differs |= (codes[w * m + i] ^ cells[place * words + w]) & mask[w];
        if (differs == 0) return place;
        slot = (slot + 1) & (size - 1);
    }
    return -1;
}

// Rows in all cells some levels below cells of one level, as `count_below`.
extern "C" __global__ void below(const word *codes, whole m, const flag *alive, const word *cells, whole words, const word *mask,
                                 whole shift, const whole *table, whole size, whole depth, whole levels, whole *totals) {
    EACH_ROW(i) {
        if (!alive[i]) continue;
        whole place = look_up(codes, m, i, cells, words, mask, shift, table, size), bit = depth % 64;
        if (place < 0) continue;
        word bits = 0;
        if (levels > 0) {
            bits = codes[depth / 64 * m + i] << bit;
            if (bit + levels > 64) bits |= codes[(depth / 64 + 1) * m + i] >> (64 - bit);
            bits >>= 64 - levels;
        }
        add(totals + (place << levels) + (whole)bits, 1);
    }
}

// Costs of one set of centers, or how much more it costs than another, in whole steps up to a bound, as `sum_costs`.
extern "C" __global__ void costs(const double *slab, whole m, whole d, const double *first, whole k, const int *labels,
                                 const double *second, whole k_second, const int *others, whole is_median, double inverse_step,
                                 double bound, whole *total) {
    whole sum = 0;
    EACH_ROW(i) {
        if (labels[i] < 0) continue;
        double ours = 0.0, theirs = 0.0;
        for (whole t = 0; t < d; t++) {
            double gap = slab[t * m + i] - first[t * k + labels[i]];
            ours += gap * gap;
        }
        for (whole t = 0; k_second && t < d; t++) {
            double gap = slab[t * m + i] - second[t * k_second + others[i]];
            theirs += gap * gap;
        }
        double gaps = (is_median ? sqrt(ours) - sqrt(theirs) : ours - theirs) * inverse_step;
        sum += (whole)fmax(fmin(gaps, bound), -bound);
    }
    add(total, sum);
}

// The leaf of a tree of planes that a row ends in, as `_walk`, by its rank among the leaves.
extern "C" __global__ void walk(const double *slab, whole m, whole d, const flag *alive, const double *normals,
                                const whole *planes, const double *offsets, const whole *first_child, const whole *ranks,
                                int *labels) {
    EACH_ROW(i) {
        whole node = 0;
        while (first_child[node] >= 0) {
            double score = 0.0;
            for (whole t = 0; t < d; t++) score += normals[planes[node] * d + t] * slab[t * m + i];
            node = first_child[node] + (score >= offsets[node]);
        }
        labels[i] = alive[i] ? (int)ranks[node] : -1;
    }
}
