#include "line.hpp"
namespace convergence {
std::vector<line> cat_lines(options const&){return {};}
std::vector<line> vr_diana_lines(options const&){return {};}
std::vector<line> block_lines(options const&){return {};}
std::vector<line> gd_sec_lines(options const&){return {};}
std::vector<line> lag_lines(options const&){return {};}
std::vector<line> collective_lines(options const&){return {};}
std::vector<line> lossy_lines(options const&){return {};}
}
