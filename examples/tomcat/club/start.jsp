<% response.sendRedirect(request.getContextPath() + "/index.jsp"); %>
